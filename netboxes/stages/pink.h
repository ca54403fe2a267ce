// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "measured_flows.h"
#include "shares.h"
#include "stage.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace netboxit::stages
{

/// PINK: an AQM that throttles TCP without drops. It stands between a node that sends data and the segment that is its bottleneck. It
/// reduces the window that the ACKs from the segment advertise to the flow's share of the bandwidth-delay product: M. Casoni et al., "How
/// to avoid TCP congestion without dropping packets: an effective AQM called PINK", Computer Communications 103 (2017), sections 3 and 4.
///
/// Settings, each but `rate` with a default:
/// - `rate`: of the bottleneck, bit/s;
/// - `exploitation`: the part of it that TCP's payload may take, above 0 and at most 1; 0.95. A window counts payload only, while the link
///   carries headers, too: with segments of 1000 bytes in packets of 1052 more than 0.951 builds a standing queue;
/// - `accounting`: "fixed" (`exploitation` for all flows), or "exact" (for each flow the part of its largest packets, from the IP header
///   on, that is payload; `exploitation` has no effect); "fixed";
/// - `reallocation` of what flows with small windows leave: "none", "literal", "base" (see Reallocation); "base";
/// - `rtt_window`: a flow's RTT is the smallest one of this time, s, or of its life (null); 10;
/// - `syn_guard`: connections of which nothing but SYNs came for 3 s do not count; false;
/// - `idle`: flows whose node sent no payload for so long, s, and for two round-trip times, do not count until it does; 2. With null they
///   count, as in the source.
///
/// Counted flows share the rate, however little they send. Data and ACKs must both pass here. The stage does not throttle a flow whose
/// handshake it did not see (the window scale is unknown) or whose headers are authenticated, nor any flow before its first RTT sample.
class Pink : public Stage, private TcpFlows::Observer
{
  public:
    /// Throws nlohmann::json::exception or std::invalid_argument where settings are not as above.
    explicit Pink(const Json& settings);
    /// With a `seed` for the table of flows instead of an unpredictable one. It changes no result.
    Pink(const Json& settings, const SipHashKey& seed);

    bool Entering(std::span<std::uint8_t> frame, const Headers& headers, std::int64_t now) override;
    bool Leaving(std::span<std::uint8_t> frame, const Headers& headers, std::int64_t now) override;
    void Check(const Json& settings) const override;
    /// A new `reallocation` begins with good flows only.
    void Set(const Json& settings, std::int64_t now) override;
    /// As of the last TCP segment or setting:
    /// - `flows`: that count; `good`, `bad`: of them; `incomplete`: those that do not count because of `syn_guard`; `idle`: those that do not
    ///   because their node sends nothing;
    /// - `free`: bandwidth that bad flows leave, and `share`: that of one good flow, bit/s;
    /// - `rewrites`: ACKs with a new window; `clamps`: ACKs whose flow has a share of less than two segments, and gets two;
    /// - `unmanaged`: IP packets that are not TCP or cannot be changed (fragments, IPsec, malformed or authenticated segments);
    /// - `unknown_scale`: ACKs that stay because the handshake was not seen; `no_rtt`: those that stay because there is no RTT sample;
    /// - `evicted`: flows that the full table forgot;
    /// - `by_flow`: of the LISTED flows that sent last and are not idle, by TcpFlowKey::Text(): `good`; `rtt` from end to end in s, null
    ///   before the first sample; `advertised`: the window that the receiver advertised last, and `window`: what became of it, bytes, null
    ///   before the first one.
    Json Read(std::int64_t now) const override;

    /// So that reading takes no time that packets notice.
    static constexpr std::size_t LISTED = 32;

  private:
    struct Settings
    {
        double rate; ///< bytes/s
        double exploitation;
        bool isExact;
        Reallocation reallocation;
        std::optional<std::int64_t> rttWindow; ///< ns
        bool synGuard;
        std::optional<std::int64_t> idle; ///< ns
    };

    /// The last ACK of a flow: what follows with the same number stays a duplicate (RFC 5681, section 2) only with the same window.
    struct LastAck
    {
        std::uint32_t number;
        std::uint16_t received; ///< the window field
        std::uint16_t written;
    };

    static constexpr std::int64_t NEVER = -1;

    /// On one cache line.
    struct alignas(64) State
    {
        Shares::Flow share{};
        std::optional<LastAck> last{};
        bool isCounted{};
        bool isStalled{};
        bool isIdle{};
        bool hasExtra{}; ///< its window has a pair of segments more than there are whole pairs in its share
        /// What its windows should have had beyond whole pairs, less what they had: pairs, times turns for which they had them; -1 to 1.
        float credit{};
        float spared{};             ///< what its share has beyond whole pairs, as it is in `m_spare`, bytes
        std::int64_t judged{NEVER}; ///< the last ACK that `credit` knows of, ns
        std::int64_t sent{};        ///< the last payload of its node, or its beginning, ns
        std::int64_t listed{};      ///< when it came to the end of the list of senders, ns
    };

    static Settings SettingsOf(const Json& settings);

    void Opened(TcpFlows::Id id) override;
    void Closed(TcpFlows::Id id) override;
    void Stalled(TcpFlows::Id id) override;
    void Fetch(TcpFlows::Id id) const override;

    void Sent(TcpFlows::Id id, std::int64_t now);
    /// Those that are idle do not count any more, a limited number of them in each call.
    void LeaveIdle(std::int64_t now);
    void Count(TcpFlows::Id id, bool counts);
    bool Counts(TcpFlows::Id id) const;
    void Throttle(std::span<std::uint8_t> frame, const TcpSegment& segment, TcpFlows::Id id, std::int64_t now);
    std::uint16_t WindowFor(const TcpSegment& segment, TcpFlows::Id id, std::int64_t now);
    std::optional<double> ShareFor(const TcpSegment& segment, State& state, unsigned shift, const Shares::Path& path);
    std::uint16_t InPairs(TcpFlows::Id id, double window, unsigned shift, bool takesTurns, std::int64_t now);
    void TakeTurn(State& state, double fraction, double unit, std::int64_t turn, std::int64_t now);
    void Spare(State& state, double bytes);
    void GiveBack(State& state, double unit);
    void LeaveTurns(TcpFlows::Id id);
    static bool IsDue(const State& state);
    double PairTime(const TcpFlow& flow) const;
    double ExploitationOf(const TcpFlow& flow) const;
    Json ReadFlow(TcpFlows::Id id) const;

    Settings m_settings;
    Shares m_shares;
    std::vector<State> m_states; ///< of the flows, by id
    /// What the shares of flows that count have beyond whole pairs of segments, less the pairs that flows have more, bytes: about 0, half a
    /// pair more or less. Much more is a part of the link that nobody uses, much less a queue.
    double m_spare{};
    std::int32_t m_due{}; ///< flows that wait for a pair more
    IndexList m_senders{TcpFlows::CAPACITY}; ///< open flows that are not idle, by their last payload, to an eighth of `idle`
    std::uint32_t m_idle{};
    MeasuredFlows m_flows;
    std::uint64_t m_rewrites{};
    std::uint64_t m_clamps{};
    std::uint64_t m_authenticated{};
    std::uint64_t m_unknownScale{};
    std::uint64_t m_noRtt{};
};

} // namespace netboxit::stages
