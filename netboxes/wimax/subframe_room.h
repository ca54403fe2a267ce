// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "frame_layout.h"
#include "mac_overhead.h"
#include "scheduler.h"
#include "uplink.h"

#include <algorithm>
#include <vector>

namespace netboxit::wimax
{

/// The uplink subframe as bursts by subscriber, at most so many as a map has room for.
class UplinkRoom : public Room
{
  public:
    UplinkRoom(std::uint32_t symbols, std::uint32_t mostBursts, std::vector<ProfileId> profiles)
        : m_symbols(symbols), m_bursts(mostBursts), m_profiles(std::move(profiles)), m_bytes(m_profiles.size())
    {
    }

    std::uint32_t Left(std::size_t burst) const override
    {
        const auto others = m_used - Symbols(burst);
        if (others + SHORT_PREAMBLE >= m_symbols || (m_bytes[burst] == 0 && m_bursts == 0))
        {
            return 0;
        }
        return BurstBytes(m_profiles[burst], m_symbols - others - SHORT_PREAMBLE) - m_bytes[burst];
    }

    void Take(std::size_t burst, std::uint32_t bytes) override
    {
        if (bytes == 0)
        {
            return;
        }
        m_bursts -= m_bytes[burst] == 0 ? 1 : 0;
        m_used -= Symbols(burst);
        m_bytes[burst] += bytes;
        m_used += Symbols(burst);
    }

    std::uint32_t Symbols(std::size_t burst) const
    {
        return m_bytes[burst] == 0 ? 0 : SHORT_PREAMBLE + BurstSymbols(m_profiles[burst], m_bytes[burst]);
    }

  private:
    std::uint32_t m_symbols;
    std::uint32_t m_bursts; ///< that may still be opened
    std::vector<ProfileId> m_profiles;
    std::vector<std::uint32_t> m_bytes;
    std::uint32_t m_used{};
};

/// The downlink subframe as bursts by profile; each costs an element of the DL-MAP.
class DownlinkRoom : public Room
{
  public:
    DownlinkRoom(const FrameLayout& layout, const UplinkMap& announced)
        : m_layout(layout), m_announced(announced)
    {
    }

    std::uint32_t Left(std::size_t burst) const override
    {
        const auto opened = Bursts() + (m_bytes[burst] == 0 ? 1 : 0);
        const auto others = Overhead(opened) + DataSymbols() - BurstSymbols(burst, m_bytes[burst]);
        if (others >= m_layout.DownlinkSymbols())
        {
            return 0;
        }
        return BurstBytes(burst, m_layout.DownlinkSymbols() - others) - m_bytes[burst];
    }

    void Take(std::size_t burst, std::uint32_t bytes) override
    {
        m_bytes[burst] += bytes;
    }

    std::uint32_t Overhead() const
    {
        return Overhead(Bursts());
    }

  private:
    std::uint32_t Overhead(std::uint32_t bursts) const
    {
        const auto grants = static_cast<std::uint32_t>(m_announced.grants.size());
        return m_layout.DownlinkOverhead(bursts, grants, m_announced.ranging);
    }

    std::uint32_t Bursts() const
    {
        return static_cast<std::uint32_t>(
            std::count_if(m_bytes.begin(), m_bytes.end(), [](std::uint32_t bytes) { return bytes > 0; }));
    }

    std::uint32_t DataSymbols() const
    {
        std::uint32_t symbols = 0;
        for (ProfileId profile = 0; profile < m_bytes.size(); ++profile)
        {
            symbols += BurstSymbols(profile, m_bytes[profile]);
        }
        return symbols;
    }

    const FrameLayout& m_layout;
    const UplinkMap& m_announced;
    std::array<std::uint32_t, PROFILES.size()> m_bytes{};
};

} // namespace netboxit::wimax
