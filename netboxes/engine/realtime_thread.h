// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "configuration.h"

#include <algorithm>
#include <sched.h>

namespace netboxit
{

/// CPU time that flows in at a rate and is spent: a leaky bucket, in ns.
class Budget
{
  public:
    /// `share` of a core's time, and at most `burst` ns saved up.
    Budget(double share, std::int64_t burst) : m_share(share), m_burst(burst), m_left(burst)
    {
    }

    void Flow(std::int64_t elapsed)
    {
        m_left =
            std::min(m_burst, m_left + static_cast<std::int64_t>(m_share * static_cast<double>(elapsed)));
    }

    void Spend(std::int64_t time)
    {
        m_left -= time;
    }

    bool IsEmpty() const
    {
        return m_left <= 0;
    }

    bool IsHalfFull() const
    {
        return m_left >= m_burst / 2 && m_burst > 0;
    }

  private:
    double m_share;
    std::int64_t m_burst;
    std::int64_t m_left;
};

/// How long after the time it asked for a sleeping thread wakes, in nine cases of ten, learned while it runs.
/// An idle core of a PC takes some microseconds to wake, one of a virtual machine a hundred.
class Oversleep
{
  public:
    void Observe(std::int64_t late)
    {
        // Steps that balance when one observation in ten is above (stochastic approximation of a quantile).
        m_expected = std::clamp<std::int64_t>(m_expected + (late > m_expected ? 9 * STEP : -STEP), 0, MOST);
    }

    std::int64_t Expected() const
    {
        return m_expected;
    }

  private:
    static constexpr std::int64_t STEP = 250;
    /// Beyond this it is not the waking that takes time, but other work.
    static constexpr std::int64_t MOST = 150'000;

    std::int64_t m_expected{0};
};

/// The calling thread in the scheduling class, with the timer slack and the locked memory that were asked
/// for, as far as the host grants them.
///
/// Where the kernel rations real-time classes (RT group scheduling), a thread that uses up its ration is
/// stopped for the rest of the second. That must not happen: before it would, the thread steps back to the
/// ordinary class until it has saved some time again.
class RealtimeThread
{
  public:
    explicit RealtimeThread(const RealtimeConfiguration& configuration);

    /// Call about once a round, with real time in ns: keeps the accounts.
    void Account(std::int64_t now);

    /// Spinning makes things worse without SCHED_FIFO, and takes no more than its share of time.
    bool MaySpin() const
    {
        return m_fifo && m_ration.IsHalfFull() && !m_spinning.IsEmpty();
    }

    void HasSpun(std::int64_t time);

    /// Netboxes of the same priority on this core, which would have to wait otherwise until this one sleeps.
    static void LetOthersRun()
    {
        sched_yield();
    }

    void HasOverslept(std::int64_t time)
    {
        m_oversleep.Observe(time);
    }

    /// How long before an event to stop sleeping.
    std::int64_t Window() const
    {
        return m_configuration.spinNs == 0 ? 0 : m_configuration.spinNs + m_oversleep.Expected();
    }

    /// As in the answer of `status`.
    Json Describe() const;
    /// {"cpu_s", "spin_s", "stepped_back", "oversleep_us"}: what it took, and how late it wakes.
    Json Usage() const;

  private:
    void AskForFifo();
    bool SetClass(int policy, int priority) const;

    RealtimeConfiguration m_configuration;
    Json m_reasons = Json::array();
    bool m_granted{false};
    bool m_fifo{false};
    Budget m_ration;
    Budget m_spinning;
    Oversleep m_oversleep;
    std::int64_t m_spun{0};
    std::int64_t m_lastNow{0};
    std::int64_t m_lastCpu{0};
    std::uint64_t m_steppedBack{0};
};

} // namespace netboxit
