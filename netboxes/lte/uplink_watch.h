// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <optional>

namespace netboxit
{

/// Whether an eNodeB still hears a UE, by the UE's sounding signal. A UE itself judges its downlink only (TS 36.331, 5.3.11), and its uplink, with
/// the weaker sender, mostly ends first; how an eNodeB finds out is left to it.
class UplinkWatch
{
  public:
    /// True: lost, false: heard again; nothing most of the time. `ratio` is the SINR, `now` in ns.
    std::optional<bool> Sounded(double ratio, std::int64_t now)
    {
        const bool isWeak = ratio < (m_isLost ? HEARD_AGAIN : HEARD);
        if (isWeak == m_isLost)
        {
            m_since.reset();
            return std::nullopt;
        }
        m_since = m_since.value_or(now);
        if (now - *m_since < (isWeak ? PATIENCE : PROOF))
        {
            return std::nullopt;
        }
        m_since.reset();
        m_isLost = isWeak;
        return isWeak;
    }

    bool IsLost() const
    {
        return m_isLost;
    }

    /// A new connection begins.
    void Reset()
    {
        m_isLost = false;
        m_since.reset();
    }

  private:
    /// Below it ns-3's schedulers allot nothing in the uplink: CQI 1 is 0.15 bit/s/Hz (TS 36.213, Table 7.2.3-1), with its link adaptation at -2.2 dB.
    static constexpr double HEARD = 0.606;
    static constexpr double HEARD_AGAIN = 0.76; ///< 1 dB better
    /// More than the 2.2 s after which a UE gives up the downlink: when both end at once, that is what is said.
    static constexpr std::int64_t PATIENCE = 3'000'000'000;
    static constexpr std::int64_t PROOF = 100'000'000;

    bool m_isLost{};
    std::optional<std::int64_t> m_since; ///< ns, since when it is otherwise than believed
};

} // namespace netboxit
