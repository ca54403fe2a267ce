// SPDX-License-Identifier: GPL-2.0-or-later
#include "lost_periods.h"

#include <cmath>

namespace netboxit::errors
{

void LostPeriods::Set(const Json& value, std::int64_t now)
{
    std::vector<Period> periods;
    std::int64_t last = 0;
    for (const auto& period : value.at("periods"))
    {
        const auto from = std::llround(1e9 * period.at(0).get<double>());
        const auto to = std::llround(1e9 * period.at(1).get<double>());
        if (from < last || to < from)
        {
            throw OutOfRange("periods of errors are not in order, or overlap: " + period.dump() +
                             " begins before the one before it ends, or ends before it begins");
        }
        last = to;
        if (to > from) // one without length only says where the trace ends
        {
            periods.push_back({from, to});
        }
    }
    m_length = value.at("repeat") ? last : 0;
    m_periods = std::move(periods);
    m_round = now;
    m_next = 0;
}

void LostPeriods::Begin(std::int64_t now)
{
    m_round = now;
    m_next = 0;
    m_began = true;
}

bool LostPeriods::IsLost(const Transmission& frame)
{
    if (!m_began || m_periods.empty())
    {
        return false;
    }
    GoOnTo(frame.start);
    return m_next < m_periods.size() && m_round + m_periods[m_next].from < std::max(frame.end, frame.start + 1);
}

void LostPeriods::GoOnTo(std::int64_t at)
{
    if (m_length > 0 && at - m_round >= m_length)
    {
        m_round += (at - m_round) / m_length * m_length;
        m_next = 0;
    }
    while (m_next < m_periods.size() && m_round + m_periods[m_next].to <= at)
    {
        ++m_next;
    }
    if (m_next == m_periods.size() && m_length > 0)
    {
        m_round += m_length;
        m_next = 0;
    }
}

} // namespace netboxit::errors
