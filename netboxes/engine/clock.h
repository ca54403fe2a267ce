// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "event_queue.h"

#include <cstdint>

namespace netboxit
{

/// Tells how late it is. All simulated times are ns since the start of the simulation, all stamps ns since
/// 1970.
class Clock
{
  public:
    virtual ~Clock() = default;

    /// The simulated time that it ought to be now.
    virtual std::int64_t Now() const = 0;
    virtual std::int64_t StampOf(std::int64_t time) const = 0;
    virtual std::int64_t TimeOf(std::int64_t stamp) const = 0;
};

/// Virtual time: it is always exactly as late as the simulation says. Stamps continue those of the input
/// captures.
class VirtualClock : public Clock
{
  public:
    explicit VirtualClock(const EventQueue& queue) : m_queue(queue)
    {
    }

    /// The stamp `epoch` is the simulated time `start`.
    void Align(std::int64_t epoch, std::int64_t start)
    {
        m_offset = epoch - start;
    }

    std::int64_t Now() const override
    {
        return m_queue.NowNs();
    }

    std::int64_t StampOf(std::int64_t time) const override
    {
        return time + m_offset;
    }

    std::int64_t TimeOf(std::int64_t stamp) const override
    {
        return stamp - m_offset;
    }

  private:
    const EventQueue& m_queue;
    std::int64_t m_offset{0};
};

/// Real time: CLOCK_MONOTONIC since the start. Stamps are CLOCK_REALTIME by the offset that Synchronise()
/// found last, so that a step of the wall clock changes stamps within a second, and never the simulation.
class RealClock : public Clock
{
  public:
    RealClock();

    /// Makes now the start of the simulation.
    virtual void Start();
    /// Measures the offset between the two clocks anew.
    virtual void Synchronise();

    std::int64_t Now() const override;

    std::int64_t StampOf(std::int64_t time) const override
    {
        return time + m_offset;
    }

    std::int64_t TimeOf(std::int64_t stamp) const override
    {
        return stamp - m_offset;
    }

  private:
    std::int64_t m_start{0};
    std::int64_t m_offset{0};
};

} // namespace netboxit
