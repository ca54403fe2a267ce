// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "burst_profile.h"
#include "numerology.h"

#include "ns3/nstime.h"

#include <cstdint>

namespace netboxit::wimax
{

inline constexpr std::uint32_t LONG_PREAMBLE =
    2; ///< symbols, at the start of the downlink subframe and of initial ranging (8.3.3.6)
inline constexpr std::uint32_t FCH = 1;            ///< symbol, BPSK 1/2 (8.3.5.1)
inline constexpr std::uint32_t SHORT_PREAMBLE = 1; ///< symbol, before each uplink burst (8.3.3.6)
/// A REQ region full opportunity: short preamble and one BPSK symbol, in which a bandwidth request header
/// fits (8.3.7.3).
inline constexpr std::uint32_t REQUEST_OPPORTUNITY = SHORT_PREAMBLE + 1;

/// How the symbols of a TDD frame are divided (8.3.5.1).
class FrameLayout
{
  public:
    struct Parameters
    {
        double frameS{};
        double downlinkShare{}; ///< of the symbols
        double ttgS{};
        double rtgS{};
        std::uint32_t requestOpportunities{}; ///< a frame
        std::uint32_t rangingEveryFrames{};   ///< one frame in so many has an initial ranging opportunity
    };

    /// Throws std::invalid_argument when preamble, maps and contention slots leave no room for data of one of so
    /// many stations.
    FrameLayout(const Numerology& numerology, const Parameters& parameters, std::size_t subscribers);

    ns3::Time Duration() const
    {
        return m_duration;
    }
    ns3::Time UplinkStart() const
    {
        return m_uplinkStart;
    }
    ns3::Time Symbols(double symbols) const
    {
        return ns3::Seconds(symbols * m_symbolS);
    }

    std::uint32_t DownlinkSymbols() const
    {
        return m_downlinkSymbols;
    }
    std::uint32_t UplinkSymbols() const
    {
        return m_uplinkSymbols;
    }
    /// Coded data, bit/s, as if bursts of this profile filled the whole subframe: a mean over frames.
    double DownlinkRateBps(ProfileId profile) const
    {
        return RateBps(profile, m_downlinkSymbols);
    }
    double UplinkRateBps(ProfileId profile) const
    {
        return RateBps(profile, m_uplinkSymbols);
    }
    std::uint32_t RequestOpportunities() const
    {
        return m_parameters.requestOpportunities;
    }
    bool HasRanging(std::uint64_t frame) const
    {
        return frame % m_parameters.rangingEveryFrames == 0;
    }

    /// Symbols of the downlink before the first data burst: preamble, FCH, and DL-MAP and UL-MAP at BPSK 1/2.
    std::uint32_t DownlinkOverhead(std::uint32_t downlinkBursts,
                                   std::uint32_t uplinkGrants,
                                   bool ranging) const;
    /// Symbols of the uplink before the first granted burst: the contention opportunities.
    std::uint32_t UplinkOverhead(bool ranging) const;
    /// MAC bytes of the largest burst that there is room for in every frame (but those with ranging, if others have none).
    std::uint32_t LargestDownlinkBurst(ProfileId profile) const
    {
        return BurstBytes(profile, m_downlinkSymbols - DownlinkOverhead(1, m_grants, true));
    }
    std::uint32_t LargestUplinkBurst(ProfileId profile) const
    {
        const bool always = m_parameters.rangingEveryFrames == 1;
        return BurstBytes(profile, m_uplinkSymbols - UplinkOverhead(always) - SHORT_PREAMBLE);
    }
    /// Grants that a frame's maps have room for, beside downlink bursts of all profiles.
    std::uint32_t MostGrants() const
    {
        return m_grants;
    }
    std::uint32_t RangingSymbols() const
    {
        return m_rangingSymbols;
    }

  private:
    double RateBps(ProfileId profile, std::uint32_t symbols) const
    {
        return 8.0 * PROFILES[profile].bytesPerSymbol * symbols / m_parameters.frameS;
    }

    Parameters m_parameters;
    double m_symbolS;
    ns3::Time m_duration;
    ns3::Time m_uplinkStart;
    std::uint32_t m_downlinkSymbols{};
    std::uint32_t m_uplinkSymbols{};
    std::uint32_t m_rangingSymbols{};
    std::uint32_t m_grants{};
};

} // namespace netboxit::wimax
