// SPDX-License-Identifier: GPL-2.0-or-later
#include "timetable.h"

#include <algorithm>
#include <cmath>

namespace netboxit
{

namespace
{

constexpr double SECOND = 1e9;

} // namespace

PeriodicTimetable::PeriodicTimetable(double rate, std::uint64_t burst)
    : m_burst(burst), m_period(static_cast<double>(burst) * SECOND / rate)
{
}

void PeriodicTimetable::Start(std::int64_t now)
{
    m_start = now;
    m_next = now;
    m_group = 0;
    m_inGroup = 0;
}

std::int64_t PeriodicTimetable::Next() const
{
    return m_next;
}

void PeriodicTimetable::Advance()
{
    if (++m_inGroup == m_burst)
    {
        m_inGroup = 0;
        m_next = TimeOf(++m_group);
    }
}

std::uint64_t PeriodicTimetable::PassOver(std::int64_t time)
{
    if (time <= m_next)
    {
        return 0;
    }
    const auto groups =
        static_cast<std::uint64_t>(std::ceil(static_cast<double>(time - m_start) / m_period)) - m_group;
    const auto passed = groups * m_burst - m_inGroup;
    m_group += groups;
    m_inGroup = 0;
    m_next = TimeOf(m_group);
    return passed;
}

void PeriodicTimetable::SetRate(double rate, std::int64_t now)
{
    const auto last = m_group > 0 ? TimeOf(m_group - 1) : m_start;
    m_period = static_cast<double>(m_burst) * SECOND / rate;
    if (m_inGroup > 0)
    {
        m_start = m_next;
        m_group = 0;
    }
    else if (m_group > 0)
    {
        // The gap that has begun gets its new length, unless that is over already.
        m_start = std::max<std::int64_t>(last, now - std::llround(m_period));
        m_group = 1;
        m_next = TimeOf(1);
    }
}

std::int64_t PeriodicTimetable::TimeOf(std::uint64_t group) const
{
    return m_start + std::llround(static_cast<double>(group) * m_period);
}

PoissonTimetable::PoissonTimetable(double rate, std::int64_t randomStream)
    : m_gaps(ns3::CreateObject<ns3::ExponentialRandomVariable>()), m_mean(SECOND / rate)
{
    m_gaps->SetStream(randomStream);
}

void PoissonTimetable::Start(std::int64_t now)
{
    m_next = static_cast<double>(now) + m_gaps->GetValue(m_mean, 0);
}

std::int64_t PoissonTimetable::Next() const
{
    return std::llround(m_next);
}

void PoissonTimetable::Advance()
{
    m_next += m_gaps->GetValue(m_mean, 0);
}

std::uint64_t PoissonTimetable::PassOver(std::int64_t time)
{
    if (time <= Next())
    {
        return 0;
    }
    // The mean number stands for those that are never drawn; the process has no memory, so it can go on from here.
    const auto passed = 1 + std::llround((static_cast<double>(time) - m_next) / m_mean);
    Start(time);
    return static_cast<std::uint64_t>(passed);
}

void PoissonTimetable::SetRate(double rate, std::int64_t now)
{
    m_mean = SECOND / rate;
    Start(now);
}

} // namespace netboxit
