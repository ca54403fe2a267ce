// SPDX-License-Identifier: GPL-2.0-or-later
#include "pink.h"

#include "settings_reader.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace netboxit::stages
{

namespace
{

constexpr std::array<std::string_view, 2> ACCOUNTING_NAMES{"fixed", "exact"};
constexpr std::array<std::string_view, 3> REALLOCATION_NAMES{"none", "literal", "base"};
/// Windows below two segments wait for delayed ACKs (RFC 9293, section 3.8.6.3: each second segment is acknowledged at once).
constexpr std::uint32_t LEAST_SEGMENTS = 2;
constexpr double LARGEST_FIELD = 65'535;
/// For so many round-trip times a flow keeps its number of pairs, if its share does not change.
constexpr std::int64_t ROTATION = 8;
/// Multiples of it, modulo 1, are spread evenly, however many there are: at any time the same part of the flows has a pair more.
constexpr double GOLDEN_RATIO = 0.6180339887498949;

// Bytes of headers: RFC 791, RFC 8200, RFC 9293, and of timestamps RFC 7323, appendix A.
constexpr std::uint32_t IPV4_HEADER = 20;
constexpr std::uint32_t IPV6_HEADER = 40;
constexpr std::uint32_t TCP_HEADER = 20;
constexpr std::uint32_t TIMESTAMPS = 12;

} // namespace

Pink::Settings Pink::SettingsOf(const Json& settings)
{
    const SettingsReader reader(settings, "pink");
    return {.rate = reader.Number("rate", RATES) / BITS_PER_BYTE,
            .exploitation = reader.NumberOr("exploitation", 0.95, {0, 1, true}),
            .isExact = reader.ChoiceOr("accounting", ACCOUNTING_NAMES, false),
            .reallocation = reader.ChoiceOr("reallocation", REALLOCATION_NAMES, Reallocation::Base),
            .rttWindow = reader.RttWindow(),
            .synGuard = reader.FlagOr("syn_guard", false)};
}

Pink::Pink(const Json& settings)
    : Pink(settings, UnpredictableKey())
{
}

Pink::Pink(const Json& settings, const SipHashKey& seed)
    : m_settings(SettingsOf(settings)),
      m_shares(m_settings.rate, m_settings.reallocation),
      m_flows(seed, this)
{
    m_states.reserve(TcpFlows::CAPACITY);
}

bool Pink::Entering(std::span<std::uint8_t>, const Headers& headers, std::int64_t now)
{
    if (const auto packet = m_flows.Entering(headers, now))
    {
        Count(m_states[packet->flow], Counts(packet->flow));
    }
    return true;
}

bool Pink::Leaving(std::span<std::uint8_t> frame, const Headers& headers, std::int64_t now)
{
    const auto packet = m_flows.Leaving(headers, now, m_settings.rttWindow);
    if (packet)
    {
        Count(m_states[packet->flow], Counts(packet->flow));
    }
    if (packet && packet->segment.ack)
    {
        Throttle(frame, packet->segment, packet->flow, now);
    }
    return true;
}

void Pink::Throttle(std::span<std::uint8_t> frame, const TcpSegment& segment, TcpFlows::Id id, std::int64_t now)
{
    if (segment.isAuthenticated)
    {
        ++m_authenticated;
        return;
    }
    if (!m_flows.Flows()[id].HasHandshake())
    {
        ++m_unknownScale;
        return;
    }
    if (!m_flows.RttOf(id))
    {
        ++m_noRtt;
        return;
    }
    const auto window = WindowFor(segment, id, now);
    if (window < segment.window && RewriteWindow(frame, segment, window))
    {
        ++m_rewrites;
    }
    if (!segment.syn)
    {
        m_states[id].last = {segment.acknowledgement, segment.window, window};
    }
}

/// What the window field shall be: never more than it is.
std::uint16_t Pink::WindowFor(const TcpSegment& segment, TcpFlows::Id id, std::int64_t now)
{
    auto& state = m_states[id];
    const auto& flow = m_flows.Flows()[id];
    const auto& last = state.last;
    if (!segment.syn && last && last->number == segment.acknowledgement)
    {
        // A receiver that opens a window which was its own sends no duplicate: the share decides on it anew.
        const bool wasReduced = last->written < last->received;
        if (wasReduced || segment.window == last->received)
        {
            return std::min(last->written, segment.window);
        }
    }
    const unsigned shift = segment.syn ? 0 : flow.RemoteShift();
    const Shares::Path path{.rtt = static_cast<double>(*m_flows.PathRttOf(id)) / NS_PER_S + PairTime(flow),
                            .exploitation = ExploitationOf(flow)};
    const auto share = ShareFor(segment, state, shift, path);
    return share ? std::min(InPairs(id, *share, shift, now), segment.window) : segment.window;
}

/// What the pair of segments that is acknowledged together takes at the bottleneck, s: the smallest RTT is that of one segment. Without it
/// 32 flows left 4 % of a line of 10 Mbit/s unused.
double Pink::PairTime(const TcpFlow& flow) const
{
    return LEAST_SEGMENTS * flow.SegmentSize() / m_settings.rate;
}

/// Bytes; nothing where the advertised window is smaller.
std::optional<double> Pink::ShareFor(const TcpSegment& segment, State& state, unsigned shift, const Shares::Path& path)
{
    const auto current = static_cast<double>(std::uint32_t{segment.window} << shift);
    if (segment.syn || !state.isCounted)
    {
        // The window of a SYN cannot say what the receiver will take: it is not scaled. It makes no flow bad.
        const auto share = m_shares.Window(state.share, path);
        return current > share ? std::optional(share) : std::nullopt;
    }
    return m_shares.Judge(state.share, current, path);
}

/// The field for a window in bytes, in pairs of segments: a receiver acknowledges each second one at once, and a single one after 40 ms and
/// more (RFC 5681, section 4.2). Cut off, the rest would be up to half of a small share: the flows have it in turn, as one pair more for some
/// round-trip times. With a new turn at each ACK, a flow would send twice as much at one ACK and nothing at the next, all the time.
std::uint16_t Pink::InPairs(TcpFlows::Id id, double window, unsigned shift, std::int64_t now)
{
    auto& state = m_states[id];
    // A scale whose unit is above a pair counts in such units.
    const double least = LEAST_SEGMENTS * m_flows.Flows()[id].SegmentSize();
    const double unit = std::max<double>(least, 1U << shift);
    m_clamps += window < least ? 1 : 0;
    const double pairs = std::max(window, least) / unit;
    if (now >= state.rotates)
    {
        state.rotates = now + ROTATION * *m_flows.RttOf(id);
        state.remainder += pairs - std::floor(pairs);
        state.hasExtra = state.remainder >= 1;
        state.remainder -= state.hasExtra ? 1 : 0;
    }
    const double whole = std::max(std::floor(pairs) + (state.hasExtra ? 1 : 0), 1.0) * unit;
    // Rounded down, the field would be less than the segments.
    return static_cast<std::uint16_t>(std::min(std::ceil(whole / (1U << shift)), LARGEST_FIELD));
}

double Pink::ExploitationOf(const TcpFlow& flow) const
{
    if (!m_settings.isExact)
    {
        return m_settings.exploitation;
    }
    const auto headers = (flow.key.version == 4 ? IPV4_HEADER : IPV6_HEADER) + TCP_HEADER +
                         (flow.node.timestamps && flow.remote.timestamps ? TIMESTAMPS : 0);
    const auto payload = flow.SegmentSize();
    return static_cast<double>(payload) / (payload + headers);
}

void Pink::Opened(TcpFlows::Id id)
{
    if (id >= m_states.size())
    {
        m_states.resize(id + std::size_t{1});
    }
    m_states[id] = {.remainder = std::fmod(id * GOLDEN_RATIO, 1.0)};
    Count(m_states[id], true);
}

void Pink::Closed(TcpFlows::Id id)
{
    Count(m_states[id], false);
}

void Pink::Stalled(TcpFlows::Id id)
{
    m_states[id].isStalled = true;
    Count(m_states[id], Counts(id));
}

bool Pink::Counts(TcpFlows::Id id) const
{
    return !m_settings.synGuard || m_flows.Flows()[id].isComplete || !m_states[id].isStalled;
}

void Pink::Count(State& state, bool counts)
{
    if (counts == state.isCounted)
    {
        return;
    }
    state.isCounted = counts;
    if (counts)
    {
        state.share = {};
        m_shares.Join(state.share);
    }
    else
    {
        m_shares.Leave(state.share);
    }
}

void Pink::Set(const Json& settings, std::int64_t now)
{
    const auto before = m_settings.reallocation;
    m_settings = SettingsOf(settings);
    m_flows.Expire(now);
    m_shares.SetRate(m_settings.rate);
    const bool isOther = m_settings.reallocation != before;
    if (isOther)
    {
        m_shares = Shares(m_settings.rate, m_settings.reallocation);
    }
    for (auto id = m_flows.Flows().FirstOpen(); id; id = m_flows.Flows().NextOpen(*id))
    {
        auto& state = m_states[*id];
        state.isCounted = state.isCounted && !isOther;
        Count(state, Counts(*id));
    }
}

Json Pink::Read(std::int64_t) const
{
    return {{"flows", m_shares.Flows()},
            {"good", m_shares.Good()},
            {"bad", m_shares.Bad()},
            {"incomplete", m_flows.Flows().Open() - m_shares.Flows()},
            {"free", m_shares.Free() * BITS_PER_BYTE},
            {"share", m_shares.OfGoodFlow() * BITS_PER_BYTE},
            {"rewrites", m_rewrites},
            {"clamps", m_clamps},
            {"unmanaged", m_flows.Unmanaged() + m_authenticated},
            {"unknown_scale", m_unknownScale},
            {"no_rtt", m_noRtt},
            {"evicted", m_flows.Flows().Evicted()}};
}

} // namespace netboxit::stages
