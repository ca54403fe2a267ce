// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "measured_flows.h"
#include "stage.h"

#include <cstdint>
#include <random>
#include <vector>

namespace netboxit::stages
{

/// GREEN: an AQM that drops a TCP flow's packets at random, so that the flow takes its fair share of the link: W. Feng, A. Kapadia,
/// S. Thulasidasan, "GREEN: Proactive Queue Management over a Best-Effort Network", IEEE GLOBECOM 2002. A flow has the rate
/// MSS·k/(RTT·√p) (M. Mathis et al., Computer Communication Review 27(3), 1997). With L/N for it, N flows on a link of rate L:
///
///     p = (N·MSS·k/(L·RTT))², at most 1
///
/// It stands between the node that sends data and the segment that is its bottleneck. It judges segments with payload, and no others.
///
/// Settings:
/// - `rate`: L, bit/s;
/// - `k`: above 0 and at most 10; 1. For TCP with an ACK for each packet 1.22, for delayed ACKs 0.87 (√(3/2) and √(3/4), Mathis et al.);
/// - `sampling`: s; 1. N is the number of flows that sent payload in the last complete period of this length, or in the present one, if it is
///   larger; MSS the largest payload of a segment in these two. A flow without an RTT sample does not count: forged ones get no ACKs;
/// - `mss`: bytes; null: the largest one as above; null;
/// - `rtt_window`: a flow's RTT is the smallest one of this time, s, or of its life (null); 10;
/// - `ecn`: mark packets as having experienced congestion where their transport is capable of ECN, instead of dropping them; false. Where
///   p is 1, all are dropped (as RED does: RFC 3168, section 7).
///
/// The RTT is measured where the flow passes; the source has hosts write theirs into an option of IP. Data and ACKs must both pass here.
/// Where N·MSS·k is above L·RTT nothing of a flow passes: so the formula says, and TCP has no rate that low.
class Green : public Stage, private TcpFlows::Observer
{
  public:
    /// `seed` of its random choices. Throws nlohmann::json::exception or std::invalid_argument where settings are not as above.
    Green(const Json& settings, std::uint64_t seed);

    bool Entering(std::span<std::uint8_t> frame, const Headers& headers, std::int64_t now) override;
    bool Leaving(std::span<std::uint8_t> frame, const Headers& headers, std::int64_t now) override;
    void Check(const Json& settings) const override;
    void Set(const Json& settings, std::int64_t now) override;
    /// - `flows`, `mss`: N, and the MSS in bytes, as of now;
    /// - `judged`: segments that met a probability; `dropped`, `marked`: of them; `certain`: of them, those whose probability was 1;
    /// - `no_rtt`: segments with payload that passed because their flow has no RTT sample;
    /// - `unmanaged`: IP packets that are not TCP or cannot be read (fragments, IPsec, malformed segments): they pass;
    /// - `evicted`: flows that the full table forgot.
    Json Read(std::int64_t now) const override;

  private:
    struct Settings
    {
        double rate;           ///< bytes/s
        double k;
        std::int64_t sampling; ///< ns
        std::optional<double> mss;
        std::optional<std::int64_t> rttWindow; ///< ns
        bool ecn;
    };

    /// What was seen in one period.
    struct Period
    {
        std::uint32_t flows{};
        std::uint32_t mss{};
    };

    static Settings SettingsOf(const Json& settings);

    void Opened(TcpFlows::Id id) override;
    void Closed(TcpFlows::Id) override {}
    void Stalled(TcpFlows::Id) override {}

    void Advance(std::int64_t now);
    void Count(TcpFlows::Id flow, std::uint32_t payload);
    Period Recent(std::int64_t now) const;
    double ProbabilityOf(std::int64_t rtt, std::int64_t now) const;
    double Uniform();

    Settings m_settings;
    std::mt19937_64 m_random;
    std::vector<std::uint64_t> m_counted; ///< the number of the period in which a flow was counted last, by its id
    MeasuredFlows m_flows;
    Period m_last;
    Period m_present;
    std::uint64_t m_period{1};
    std::int64_t m_began{}; ///< the present period, ns
    std::uint64_t m_judged{};
    std::uint64_t m_dropped{};
    std::uint64_t m_marked{};
    std::uint64_t m_certain{};
    std::uint64_t m_noRtt{};
};

} // namespace netboxit::stages
