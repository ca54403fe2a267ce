// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "timer.h"

#include <cmath>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>

namespace netboxit::link_layer
{

/// Whoever sends frames by a transmitter.
class Sender
{
  public:
    virtual ~Sender() = default;
    /// Its turn: hands its frame to the technology, and returns how long the frame is, in bytes.
    virtual std::uint32_t Begin() = 0;
    /// The time of that frame is over.
    virtual void Complete() = 0;
};

/// The pace at which a station hands frames of its link layers to the technology: one frame after the other, at a rate. Senders that have a
/// frame at the same time take turns.
class Transmitter
{
  public:
    /// `rate`: bit/s.
    Transmitter(multiservice::Timebase& timebase, double rate)
        : m_timebase(timebase), m_rate(rate), m_alarm(timebase.MakeAlarm([this] { Continue(); }))
    {
    }

    Transmitter(const Transmitter&) = delete;
    Transmitter& operator=(const Transmitter&) = delete;

    /// This sender has a frame. It asks again once that one is complete. Its turn does not come within this call: a technology that says what
    /// became of a frame is not given another one meanwhile.
    void Ask(Sender& sender)
    {
        m_asking.push_back(&sender);
        if (m_sending == nullptr)
        {
            m_alarm->Set(m_timebase.Now());
        }
    }

  private:
    void Continue()
    {
        if (m_sending != nullptr)
        {
            std::exchange(m_sending, nullptr)->Complete();
        }
        if (!m_asking.empty())
        {
            m_sending = m_asking.front();
            m_asking.pop_front();
            const auto bytes = m_sending->Begin();
            m_alarm->Set(m_timebase.Now() + std::llround(bytes * 8e9 / m_rate));
        }
    }

    multiservice::Timebase& m_timebase;
    double m_rate;
    std::unique_ptr<multiservice::Alarm> m_alarm;
    std::deque<Sender*> m_asking;
    Sender* m_sending{nullptr};
};

} // namespace netboxit::link_layer
