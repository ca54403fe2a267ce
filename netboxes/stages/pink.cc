// SPDX-License-Identifier: GPL-2.0-or-later
#include "pink.h"

#include "fetch.h"
#include "settings_reader.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace netboxit::stages
{

namespace
{

constexpr std::array<std::string_view, 2> ACCOUNTING_NAMES{"fixed", "exact"};
constexpr std::array<std::string_view, 3> REALLOCATION_NAMES{"none", "literal", "base"};
/// Windows below two segments wait for delayed ACKs (RFC 9293, section 3.8.6.3: each second segment is acknowledged at once).
constexpr std::uint32_t LEAST_SEGMENTS = 2;
constexpr double LARGEST_FIELD = 65'535;
/// Parts of `idle`: to one of them the list of senders is right. A place in it, and those of its two neighbours, are three places in memory
/// that each packet would fetch. Our own choice.
constexpr std::int64_t LISTED_ANEW = 8;
/// So that a packet is not late where many flows become idle together. Our own choice.
constexpr int LEFT_AT_ONCE = 64;
/// A turn, in round-trip times: a flow that has a pair of segments more, and whose share has nothing beyond whole pairs, loses a credit of one
/// in it. Our own choice: each handing on leaves the link unused for about a segment's time, and with 32 flows of two or four segments on
/// 10 Mbit/s goodputs of a second are still fair.
constexpr std::int64_t TURN = 3;
/// With this credit a flow waits for a pair more, and with minus as much it has had one for long enough. Our own choice.
constexpr double DUE = 0.5;

// Bytes of headers: RFC 791, RFC 8200, RFC 9293, and of timestamps RFC 7323, appendix A.
constexpr std::uint32_t IPV4_HEADER = 20;
constexpr std::uint32_t IPV6_HEADER = 40;
constexpr std::uint32_t TCP_HEADER = 20;
constexpr std::uint32_t TIMESTAMPS = 12;

/// A pair of segments, bytes. A scale whose unit is above a pair counts in such units.
double UnitOf(const TcpFlow& flow, unsigned shift)
{
    return std::max<double>(LEAST_SEGMENTS * flow.SegmentSize(), 1U << shift);
}

} // namespace

Pink::Settings Pink::SettingsOf(const Json& settings)
{
    const SettingsReader reader(settings, "pink");
    return {.rate = reader.Number("rate", RATES) / BITS_PER_BYTE,
            .exploitation = reader.NumberOr("exploitation", 0.95, {0, 1, true}),
            .isExact = reader.ChoiceOr("accounting", ACCOUNTING_NAMES, false),
            .reallocation = reader.ChoiceOr("reallocation", REALLOCATION_NAMES, Reallocation::Base),
            .rttWindow = reader.RttWindow(),
            .synGuard = reader.FlagOr("syn_guard", false),
            .idle = reader.TimeOrNull("idle", 2)};
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
    LeaveIdle(now);
    const auto segment = m_flows.Read(headers);
    if (!segment)
    {
        return true;
    }
    if (const auto flow = m_flows.Entering(*headers.ip, *segment, now))
    {
        if (segment->payload > 0)
        {
            Sent(*flow, now);
        }
        Count(*flow, Counts(*flow));
    }
    return true;
}

bool Pink::Leaving(std::span<std::uint8_t> frame, const Headers& headers, std::int64_t now)
{
    LeaveIdle(now);
    const auto segment = m_flows.Read(headers);
    if (!segment)
    {
        return true;
    }
    if (const auto answer = m_flows.Leaving(*headers.ip, *segment, now, m_settings.rttWindow))
    {
        Count(answer->flow, Counts(answer->flow));
        if (segment->ack)
        {
            Throttle(frame, *segment, answer->flow, now);
        }
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
    if (const auto share = ShareFor(segment, state, shift, path))
    {
        return std::min(InPairs(id, *share, shift, state.isCounted && !segment.syn, now), segment.window);
    }
    LeaveTurns(id); // its window is its own
    return segment.window;
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
/// more (RFC 5681, section 4.2). Cut off, the rest would be up to half of a small share: the flows have it in turn, as one pair more.
std::uint16_t Pink::InPairs(TcpFlows::Id id, double window, unsigned shift, bool takesTurns, std::int64_t now)
{
    auto& state = m_states[id];
    const auto& flow = m_flows.Flows()[id];
    const double least = LEAST_SEGMENTS * flow.SegmentSize();
    const double unit = UnitOf(flow, shift);
    m_clamps += window < least ? 1 : 0;
    const double pairs = std::max(window, least) / unit;
    const auto cut = static_cast<double>(static_cast<std::int64_t>(pairs)); // std::floor is a call on plain x86-64
    if (takesTurns)
    {
        TakeTurn(state, pairs - cut, unit, TURN * std::max(*m_flows.RttOf(id), PassiveRtt::SMALLEST), now);
    }
    const double whole = std::max(cut + (state.hasExtra ? 1 : 0), 1.0) * unit;
    // Rounded down, the field would be less than the segments.
    return static_cast<std::uint16_t>(std::min(std::ceil(whole / (1U << shift)), LARGEST_FIELD));
}

/// A flow that has had a pair more for long enough gives it back where another flow waits for one, and the other takes it with its next ACK. So
/// the number of segments under way stays the same, to about half a pair. A pair that one flow leaves out and another sends much later is a gap
/// on the link, and then a queue.
void Pink::TakeTurn(State& state, double fraction, double unit, std::int64_t turn, std::int64_t now)
{
    m_due -= IsDue(state) ? 1 : 0;
    Spare(state, fraction * unit);
    const auto before = std::exchange(state.judged, now);
    const auto turns = before == NEVER ? 0 : static_cast<double>(now - before) / static_cast<double>(turn);
    state.credit = static_cast<float>(std::clamp(state.credit + (fraction - (state.hasExtra ? 1 : 0)) * turns, -1.0, 1.0));
    const auto available = m_spare / unit + 0.5; // pairs, so many whole ones to the nearest
    if (state.hasExtra)
    {
        const bool isOver = (state.credit <= -DUE && m_due > available) || (state.credit <= -1 && m_spare < 0);
        if (isOver || m_spare <= -unit)
        {
            GiveBack(state, unit);
        }
    }
    // A flow with a credit of a whole turn does not wait for a whole pair: the others may send nothing.
    else if ((state.credit >= 1 && available > 0) || (available >= 1 && (IsDue(state) || (m_due == 0 && state.credit > -DUE))))
    {
        state.hasExtra = true;
        m_spare -= unit;
    }
    m_due += IsDue(state) ? 1 : 0;
}

bool Pink::IsDue(const State& state)
{
    return !state.hasExtra && state.credit >= DUE;
}

void Pink::LeaveTurns(TcpFlows::Id id)
{
    auto& state = m_states[id];
    m_due -= IsDue(state) ? 1 : 0;
    state.credit = 0;
    state.judged = NEVER;
    Spare(state, 0);
    if (state.hasExtra)
    {
        const auto& flow = m_flows.Flows()[id];
        GiveBack(state, UnitOf(flow, flow.RemoteShift()));
    }
}

void Pink::GiveBack(State& state, double unit)
{
    state.hasExtra = false;
    m_spare += unit;
}

void Pink::Spare(State& state, double bytes)
{
    const auto spared = static_cast<float>(bytes);
    m_spare += double{spared} - double{std::exchange(state.spared, spared)};
}

double Pink::ExploitationOf(const TcpFlow& flow) const
{
    if (!m_settings.isExact)
    {
        return m_settings.exploitation;
    }
    const auto headers = (flow.key.Version() == 4 ? IPV4_HEADER : IPV6_HEADER) + TCP_HEADER +
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
    const auto now = m_flows.Flows()[id].opened;
    m_states[id] = {.sent = now, .listed = now};
    m_senders.MoveToBack(id);
    Count(id, true);
}

void Pink::Closed(TcpFlows::Id id)
{
    m_idle -= m_states[id].isIdle ? 1 : 0;
    m_senders.Remove(id);
    Count(id, false);
}

void Pink::Sent(TcpFlows::Id id, std::int64_t now)
{
    auto& state = m_states[id];
    state.sent = now;
    m_idle -= state.isIdle ? 1 : 0;
    if (std::exchange(state.isIdle, false) || (m_settings.idle && now - state.listed >= *m_settings.idle / LISTED_ANEW))
    {
        state.listed = now;
        m_senders.MoveToBack(id);
    }
}

void Pink::LeaveIdle(std::int64_t now)
{
    for (int left = 0; m_settings.idle && left < LEFT_AT_ONCE; ++left)
    {
        const auto id = m_senders.Front();
        if (!id || now - m_states[*id].listed <= *m_settings.idle)
        {
            return;
        }
        auto& state = m_states[*id];
        if (now - state.sent > std::max(*m_settings.idle, 2 * m_flows.RttOf(*id).value_or(0)))
        {
            state.isIdle = true;
            ++m_idle;
            m_senders.Remove(*id);
            Count(*id, false);
        }
        else
        {
            state.listed = state.sent;
            m_senders.MoveToBack(*id);
        }
    }
}

void Pink::Stalled(TcpFlows::Id id)
{
    m_states[id].isStalled = true;
    Count(id, Counts(id));
}

void Pink::Fetch(TcpFlows::Id id) const
{
    FetchToWrite(m_states[id]);
}

bool Pink::Counts(TcpFlows::Id id) const
{
    const auto& state = m_states[id];
    return !state.isIdle && (!m_settings.synGuard || !state.isStalled || m_flows.Flows()[id].isComplete);
}

void Pink::Count(TcpFlows::Id id, bool counts)
{
    auto& state = m_states[id];
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
        LeaveTurns(id);
    }
}

void Pink::Check(const Json& settings) const
{
    SettingsOf(settings);
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
        if (!m_settings.idle && state.isIdle)
        {
            Sent(*id, now);
        }
        Count(*id, Counts(*id));
    }
}

Json Pink::ReadFlow(TcpFlows::Id id) const
{
    const auto& state = m_states[id];
    const auto rtt = m_flows.PathRttOf(id);
    Json read{{"good", state.share.isGood},
              {"rtt", rtt ? Json(static_cast<double>(*rtt) / NS_PER_S) : Json()},
              {"advertised", nullptr},
              {"window", nullptr}};
    if (state.last)
    {
        const auto shift = m_flows.Flows()[id].RemoteShift();
        read["advertised"] = std::uint32_t{state.last->received} << shift;
        read["window"] = std::uint32_t{state.last->written} << shift;
    }
    return read;
}

Json Pink::Read(std::int64_t) const
{
    auto byFlow = Json::object();
    for (auto id = m_senders.Back(); id && byFlow.size() < LISTED; id = m_senders.Before(*id))
    {
        byFlow[m_flows.Flows()[*id].key.Text()] = ReadFlow(*id);
    }
    return {{"flows", m_shares.Flows()},
            {"good", m_shares.Good()},
            {"bad", m_shares.Bad()},
            {"incomplete", m_flows.Flows().Open() - m_shares.Flows() - m_idle},
            {"idle", m_idle},
            {"free", m_shares.Free() * BITS_PER_BYTE},
            {"share", m_shares.OfGoodFlow() * BITS_PER_BYTE},
            {"rewrites", m_rewrites},
            {"clamps", m_clamps},
            {"unmanaged", m_flows.Unmanaged() + m_authenticated},
            {"unknown_scale", m_unknownScale},
            {"no_rtt", m_noRtt},
            {"evicted", m_flows.Flows().Evicted()},
            {"by_flow", byFlow}};
}

} // namespace netboxit::stages
