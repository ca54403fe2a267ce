// SPDX-License-Identifier: GPL-2.0-or-later
#include "codel_second.h"

#include <cmath>

namespace netboxit
{

namespace
{

/// Bytes below which a queue is never too long: one packet of the greatest length.
constexpr std::uint64_t LONGEST = 1514;

} // namespace

void CodelSecond::Sends(std::int64_t now)
{
    const bool isTooLong = IsTooLong(now);
    if (!m_dropping)
    {
        if (isTooLong && DropSecond())
        {
            m_dropping = true;
            m_count = 1;
            m_dropNext = now + m_settings.interval;
        }
        return;
    }
    m_dropping = isTooLong;
    while (m_dropping && now >= m_dropNext)
    {
        m_dropping = DropSecond() && IsTooLong(now);
        m_dropNext += std::llround(static_cast<double>(m_settings.interval) / std::sqrt(++m_count));
    }
}

bool CodelSecond::IsTooLong(std::int64_t now)
{
    const auto head = Bearer().head();
    if (!head || now - head->since < m_settings.target || head->bytes + Bytes() <= LONGEST)
    {
        m_firstAbove = 0;
        return false;
    }
    if (m_firstAbove == 0)
    {
        m_firstAbove = now + m_settings.interval;
    }
    return now >= m_firstAbove;
}

} // namespace netboxit
