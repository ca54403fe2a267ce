// SPDX-License-Identifier: GPL-2.0-or-later
#include "frame_layout.h"

#include "mac_overhead.h"

#include <cmath>
#include <stdexcept>
#include <string>

namespace netboxit::wimax
{

namespace
{

/// DL-MAP without its information elements (6.3.2.3.2): message type, DCD count, base station ID; the OFDM
/// PHY synchronisation field is empty.
constexpr std::uint32_t DL_MAP_FIXED = GENERIC_HEADER + 1 + 1 + 6 + CRC;
/// CID 16, DIUC 4, preamble present 1, start time 11 bits (8.3.6.2).
constexpr std::uint32_t DL_MAP_IE = 4;
/// UL-MAP without its information elements (6.3.2.3.4): message type, a reserved byte, UCD count, allocation
/// start time.
constexpr std::uint32_t UL_MAP_FIXED = GENERIC_HEADER + 1 + 1 + 1 + 4 + CRC;
/// CID 16, start time 11, subchannel index 5, UIUC 4, duration 10, midamble interval 2 bits (8.3.6.3).
constexpr std::uint32_t UL_MAP_IE = 6;
/// Each map ends with an information element of its own (DIUC and UIUC 14).
constexpr std::uint32_t END_OF_MAP = 1;

/// RNG-REQ of a station that enters (6.3.2.3.5): message type, a reserved byte, and the TLVs MAC address,
/// wanted burst profile, MAC version.
constexpr std::uint32_t RNG_REQ = GENERIC_HEADER + 1 + 1 + 8 + 3 + 3 + CRC;

/// Symbols of a burst that carries something beside its headers, at any burst profile.
constexpr std::uint32_t LEAST_BURST = 2;

double RoundUpToPhysicalSlots(double gapS, const Numerology& numerology)
{
    return std::ceil(gapS / numerology.physicalSlotS - 1e-9) * numerology.physicalSlotS;
}

} // namespace

FrameLayout::FrameLayout(const Numerology& numerology, const Parameters& parameters, std::size_t subscribers)
    : m_parameters(parameters), m_symbolS(numerology.symbolS), m_duration(ns3::Seconds(parameters.frameS))
{
    const double ttgS = RoundUpToPhysicalSlots(parameters.ttgS, numerology);
    const double rtgS = RoundUpToPhysicalSlots(parameters.rtgS, numerology);
    const auto symbols = static_cast<std::uint32_t>(
        std::max(0.0, std::floor((parameters.frameS - ttgS - rtgS) / m_symbolS + 1e-9)));
    m_downlinkSymbols = static_cast<std::uint32_t>(std::floor(parameters.downlinkShare * symbols + 1e-9));
    m_uplinkSymbols = symbols - m_downlinkSymbols;
    m_uplinkStart = ns3::Seconds(m_downlinkSymbols * m_symbolS + ttgS);
    // A station that is not yet ranged may be late by a round trip, which TTG bounds.
    m_rangingSymbols = LONG_PREAMBLE + BurstSymbols(MOST_ROBUST, RNG_REQ) +
                       static_cast<std::uint32_t>(std::ceil(ttgS / m_symbolS));

    const auto stations = static_cast<std::uint32_t>(subscribers);
    const auto bursts = std::min<std::uint32_t>(stations, PROFILES.size());
    const auto downlinkNeed = DownlinkOverhead(bursts, 1, true) + LEAST_BURST;
    const auto uplinkNeed = UplinkOverhead(true) + SHORT_PREAMBLE + LEAST_BURST;
    if (m_downlinkSymbols < downlinkNeed || m_uplinkSymbols < uplinkNeed)
    {
        throw std::invalid_argument(
            "wimax: a frame of " + std::to_string(parameters.frameS * 1e3) + " ms has " +
            std::to_string(m_downlinkSymbols) + " downlink and " + std::to_string(m_uplinkSymbols) +
            " uplink symbols; preambles, maps, contention and one burst need " + std::to_string(downlinkNeed) +
            " and " + std::to_string(uplinkNeed) +
            ": lengthen `frame`, widen `bandwidth`, change `downlink_share` or lower "
            "`request_opportunities`");
    }
    m_grants = stations;
    while (m_grants > 1 && DownlinkOverhead(bursts, m_grants, true) + LEAST_BURST > m_downlinkSymbols)
    {
        --m_grants;
    }
}

std::uint32_t FrameLayout::DownlinkOverhead(std::uint32_t downlinkBursts,
                                            std::uint32_t uplinkGrants,
                                            bool ranging) const
{
    const std::uint32_t requestRegion = m_parameters.requestOpportunities > 0 ? 1 : 0;
    const auto uplinkElements = uplinkGrants + requestRegion + (ranging ? 1 : 0) + END_OF_MAP;
    const auto maps =
        DL_MAP_FIXED + DL_MAP_IE * (downlinkBursts + END_OF_MAP) + UL_MAP_FIXED + UL_MAP_IE * uplinkElements;
    return LONG_PREAMBLE + FCH + BurstSymbols(MOST_ROBUST, maps);
}

std::uint32_t FrameLayout::UplinkOverhead(bool ranging) const
{
    return (ranging ? m_rangingSymbols : 0) + m_parameters.requestOpportunities * REQUEST_OPPORTUNITY;
}

} // namespace netboxit::wimax
