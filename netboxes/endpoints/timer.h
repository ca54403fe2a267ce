// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "ns3/simulator.h"

#include <cstdint>
#include <functional>
#include <utility>

namespace netboxit
{

/// Something to be done once, later. It is not done any more when the timer is set anew, stopped or destroyed.
class Timer
{
  public:
    Timer() = default;
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;

    ~Timer()
    {
        m_event.Cancel();
    }

    /// `after` in ns.
    void Set(std::int64_t after, std::function<void()> act)
    {
        m_event.Cancel();
        m_event = ns3::Simulator::Schedule(ns3::NanoSeconds(after), std::move(act));
    }

    void Stop()
    {
        m_event.Cancel();
    }

    bool IsSet() const
    {
        return m_event.IsPending();
    }

  private:
    ns3::EventId m_event;
};

} // namespace netboxit
