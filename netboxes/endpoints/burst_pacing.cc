// SPDX-License-Identifier: GPL-2.0-or-later
#include "burst_pacing.h"

#include "ns3/simulator.h"

#include <algorithm>

namespace netboxit
{

namespace
{

/// sk_pacing_shift: a burst is what the rate sends in 2^-10 s.
constexpr std::uint64_t BURSTS_PER_S = 1024;
/// What a packet of generic segmentation offload holds (GSO_LEGACY_MAX_SIZE, without headers).
constexpr std::uint64_t LARGEST_BURST = 65'200;
/// bbr_min_tso_segs: one segment below 1.2 Mbit/s, otherwise two; tcp_min_tso_segs is 2, too.
constexpr std::uint64_t SLOW_BPS = 1'200'000;
constexpr std::uint64_t NOT_PACED = 10;

} // namespace

std::uint32_t BurstPacing::Segments(const ns3::DataRate& rate, std::uint32_t segmentSize)
{
    const auto bps = rate.GetBitRate();
    const auto bytes = std::min(bps / 8 / BURSTS_PER_S, LARGEST_BURST);
    const std::uint32_t least = bps < SLOW_BPS ? 1 : 2;
    return std::max(static_cast<std::uint32_t>(bytes / segmentSize), least);
}

ns3::Time BurstPacing::Wait() const
{
    const bool ofBurst = m_left > 0 && m_began == ns3::Simulator::Now();
    return m_sent < NOT_PACED || ofBurst ? ns3::Time() : NextBurst();
}

ns3::Time BurstPacing::NextBurst() const
{
    return std::max(m_next - ns3::Simulator::Now(), ns3::Time());
}

void BurstPacing::Sent(std::uint32_t size, const ns3::DataRate& rate, std::uint32_t segmentSize)
{
    const auto now = ns3::Simulator::Now();
    if (m_sent < NOT_PACED)
    {
        ++m_sent;
        m_next = now;
        return;
    }
    if (m_left == 0 || m_began != now)
    {
        m_left = Segments(rate, segmentSize);
        m_began = now;
        m_credit = std::max(now - m_next, ns3::Time());
        m_next = std::max(m_next, now);
    }
    --m_left;
    const auto takes = rate.CalculateBytesTxTime(size);
    const auto credit = std::min(m_credit, takes / 2); // as Linux: what began late ends up to a half earlier
    m_credit -= credit;
    m_next += takes - credit;
}

} // namespace netboxit
