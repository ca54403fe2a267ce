// SPDX-License-Identifier: GPL-2.0-or-later
#include "clock.h"

#include <ctime>

#include <limits>

namespace netboxit
{

namespace
{

std::int64_t Read(clockid_t clock)
{
    timespec time{};
    clock_gettime(clock, &time);
    return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
}

} // namespace

RealClock::RealClock()
{
    Start();
}

void RealClock::Start()
{
    m_start = Read(CLOCK_MONOTONIC);
    Synchronise();
}

void RealClock::Synchronise()
{
    // The reading of the wall clock that was bracketed most tightly is the least disturbed one.
    std::int64_t tightest = std::numeric_limits<std::int64_t>::max();
    for (int attempt = 0; attempt < 5; ++attempt)
    {
        const auto before = Now();
        const auto stamp = Read(CLOCK_REALTIME);
        const auto after = Now();
        if (after - before < tightest)
        {
            tightest = after - before;
            m_offset = stamp - (before + after) / 2;
        }
    }
}

std::int64_t RealClock::Now() const
{
    return Read(CLOCK_MONOTONIC) - m_start;
}

} // namespace netboxit
