// SPDX-License-Identifier: GPL-2.0-or-later
#include "retransmission.h"

#include <algorithm>
#include <cstdlib>

namespace netboxit::middleware
{

namespace
{

constexpr Time LEAST = 200 * MILLISECOND;
constexpr Time MOST = 64 * SECOND; ///< as DHCP (RFC 2131, section 4.1)

} // namespace

void Retransmission::Sample(Time roundTrip)
{
    const auto sample = std::clamp<Time>(roundTrip, 1, MOST);
    // RFC 6298, 2.2 and 2.3.
    if (m_smoothed == 0)
    {
        m_smoothed = sample;
        m_variation = sample / 2;
        return;
    }
    m_variation = (3 * m_variation + std::abs(m_smoothed - sample)) / 4;
    m_smoothed = (7 * m_smoothed + sample) / 8;
}

Time Retransmission::First() const
{
    return m_smoothed == 0 ? SECOND : std::clamp(m_smoothed + 4 * m_variation, LEAST, MOST);
}

Time Retransmission::Timeout(unsigned tries, Time longest) const
{
    const auto first = First();
    auto timeout = first;
    for (unsigned doubled = 1; doubled < tries && timeout < MOST; ++doubled)
    {
        timeout *= 2;
    }
    return std::min({timeout, tries == 1 ? 2 * longest : longest, MOST});
}

} // namespace netboxit::middleware
