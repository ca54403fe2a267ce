// SPDX-License-Identifier: GPL-2.0-or-later
#include "qrm.h"

#include "settings_reader.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace netboxit::stages
{

namespace
{

constexpr std::array<std::string_view, 2> POLICE_NAMES{"bucket", "reset"};
/// S4 of the source: 700 ms from the gateway, and 1 ms each way before it.
constexpr double DEFAULT_TOLERANCE = 702.0 / 700;
constexpr double DEFAULT_RTT_S = 0.1;
constexpr double DEFAULT_IDLE_S = 10;
constexpr unsigned DEFAULT_NODES = 1024;
/// s.
constexpr Range RTTS{1e-6, 100};
/// bit/s: with 0 a node sends nothing.
constexpr Range BUDGETS{0, RATES.most};
/// A packet stays short, even where a flood's nodes all become idle at once; each one has one node become active at most.
constexpr int FORGOTTEN_AT_ONCE = 64;

} // namespace

Qrm::Settings Qrm::SettingsOf(const Json& settings)
{
    const SettingsReader reader(settings, "qrm");
    const auto ns = [](double seconds) { return std::llround(seconds * NS_PER_S); };
    return {.rate = reader.Number("rate", RATES) / BITS_PER_BYTE,
            .budgets = BudgetsOf(settings),
            .police = reader.ChoiceOr("police", POLICE_NAMES, Policing::Bucket),
            .tolerance = reader.NumberOr("tolerance", DEFAULT_TOLERANCE, {1, 10}),
            .rtt = ns(reader.NumberOr("rtt", DEFAULT_RTT_S, RTTS)),
            .rttWindow = reader.RttWindow(),
            .idle = ns(reader.NumberOr("idle", DEFAULT_IDLE_S, TIMES)),
            .nodes = reader.IntegerIfAny("nodes", 1, LARGEST_NODES).value_or(DEFAULT_NODES)};
}

Qrm::Budgets Qrm::BudgetsOf(const Json& settings)
{
    const SettingsReader reader(settings, "qrm");
    const auto read = settings.value("budgets", Json());
    if (read.is_null())
    {
        return {};
    }
    if (!read.is_object() || read.size() > LARGEST_BUDGETS)
    {
        reader.Refuse("budgets", read.is_object() ? Json(read.size()) : read, "at most 16384 rates, each by an IP address");
    }
    Budgets budgets;
    const SettingsReader rates(read, "qrm: budgets");
    for (const auto& [text, rate] : read.items())
    {
        const auto address = ReadIpAddress(text);
        if (!address)
        {
            reader.Refuse("an address in budgets", text, "one of IPv4 or IPv6");
        }
        budgets.emplace_back(*address, rates.Number(text.c_str(), BUDGETS) / BITS_PER_BYTE);
    }
    std::ranges::sort(budgets);
    const auto twice = std::ranges::adjacent_find(budgets, {}, &Budgets::value_type::first);
    if (twice != budgets.end())
    {
        reader.Refuse("an address in budgets", TextOf(twice->first), "there once");
    }
    return budgets;
}

void Qrm::Counts::Add(bool passes, std::uint32_t bytes)
{
    ++(passes ? passed : dropped);
    (passes ? passedBytes : droppedBytes) += bytes;
}

Json Qrm::Counts::Read() const
{
    return {{"passed", passed}, {"passed_bytes", passedBytes}, {"dropped", dropped}, {"dropped_bytes", droppedBytes}};
}

Qrm::Qrm(const Json& settings)
    : m_settings(SettingsOf(settings)),
      m_flows(UnpredictableKey()),
      m_nodes(LARGEST_NODES + 2 * LARGEST_BUDGETS, UnpredictableKey())
{
    TakeBudgets({});
    Share(0);
}

bool Qrm::Entering(std::span<std::uint8_t>, const Headers& headers, std::int64_t now)
{
    if (const auto segment = m_flows.Read(headers))
    {
        m_flows.Entering(*headers.ip, *segment, now);
    }
    if (!headers.ip)
    {
        ++m_unmanaged;
        return true;
    }
    Expire(now);
    auto& sender = SenderOf(*headers.ip, now);
    const bool passes = Passes(sender, headers.length, now);
    sender.counts.Add(passes, headers.length);
    m_counts.Add(passes, headers.length);
    return passes;
}

bool Qrm::Leaving(std::span<std::uint8_t>, const Headers& headers, std::int64_t now)
{
    const auto segment = m_flows.Read(headers);
    const auto answer = segment ? m_flows.Leaving(*headers.ip, *segment, now, m_settings.rttWindow) : std::nullopt;
    if (answer && answer->rtt)
    {
        if (const auto id = m_nodes.Find(NodeOf(*headers.ip, Direction::ToNode)))
        {
            auto& state = m_nodes[*id].state;
            state.smallestRtt.Add(*answer->rtt, now, m_settings.rttWindow);
            state.lastRtt = answer->rtt;
        }
    }
    return true;
}

/// What is known of the node that sent a packet. It is active from now on.
Qrm::State& Qrm::SenderOf(const IpHeaders& ip, std::int64_t now)
{
    const auto address = NodeOf(ip, Direction::FromNode);
    auto id = m_nodes.Find(address);
    if (!id && m_sharing >= m_settings.nodes)
    {
        ++m_othersPackets;
        const bool isNew = !m_othersSeen;
        m_othersSeen = now;
        if (isNew)
        {
            Share(now);
        }
        return m_others;
    }
    id = id ? id : m_nodes.Insert(address);
    const bool isNew = !m_nodes.IsSeen(*id);
    m_nodes.See(*id, now);
    auto& state = m_nodes[*id].state;
    if (isNew && !state.budget)
    {
        ++m_sharing;
        Share(now);
        state.granted = m_granted;
    }
    return state;
}

bool Qrm::Passes(State& state, std::uint32_t bytes, std::int64_t now)
{
    return m_settings.police == Policing::Bucket ? PassesBucket(state, bytes, now) : PassesCounter(state, bytes, now);
}

/// The source, figure 3.5. Its timer is started anew each time with the RTT that was measured last.
bool Qrm::PassesCounter(State& state, std::uint32_t bytes, std::int64_t now) const
{
    const auto period = PeriodOf(state);
    auto& reset = state.reset ? *state.reset : state.reset.emplace(now);
    const auto ended = (now - reset) / period;
    if (ended > 0)
    {
        reset += ended * period;
        state.sent = 0;
    }
    if (state.sent >= LimitOf(state))
    {
        return false;
    }
    state.sent += bytes;
    return true;
}

bool Qrm::PassesBucket(State& state, std::uint32_t bytes, std::int64_t now) const
{
    Fill(state, now);
    if (state.tokens <= 0)
    {
        return false;
    }
    state.tokens -= bytes;
    return true;
}

void Qrm::Fill(State& state, std::int64_t now) const
{
    const auto granted = Granted(now);
    const double added = state.budget ? *state.budget * static_cast<double>(now - state.filled) / NS_PER_S : granted - state.granted;
    state.tokens = std::min(LimitOf(state), state.tokens + added);
    state.granted = granted;
    state.filled = now;
}

/// To each node that has had a share all the time, bytes: shares change with the number of nodes, and each has had its part of the rate.
double Qrm::Granted(std::int64_t now) const
{
    return m_granted + m_share * static_cast<double>(now - m_grantedUntil) / NS_PER_S;
}

double Qrm::RateOf(const State& state) const
{
    return state.budget.value_or(m_share);
}

/// B with the tolerance, bytes.
double Qrm::LimitOf(const State& state) const
{
    const auto rtt = std::max(state.smallestRtt.Value().value_or(m_settings.rtt), PassiveRtt::SMALLEST);
    return m_settings.tolerance * RateOf(state) * static_cast<double>(rtt) / NS_PER_S;
}

std::int64_t Qrm::PeriodOf(const State& state) const
{
    return std::max(state.lastRtt.value_or(m_settings.rtt), PassiveRtt::SMALLEST);
}

void Qrm::Expire(std::int64_t now)
{
    const auto before = m_sharing;
    for (int forgotten = 0; forgotten < FORGOTTEN_AT_ONCE; ++forgotten)
    {
        const auto oldest = m_nodes.Oldest();
        if (!oldest || !IsIdle(*oldest, now))
        {
            break;
        }
        Leave(*oldest);
    }
    const bool othersLeave = m_othersSeen && now - *m_othersSeen > m_settings.idle;
    if (othersLeave)
    {
        m_othersSeen.reset();
    }
    if (othersLeave || m_sharing != before)
    {
        Share(now);
    }
}

/// A node that is forgotten begins anew with all of B: it must have had it by then anyway.
bool Qrm::IsIdle(Table::Id id, std::int64_t now)
{
    auto& [address, seen, state] = m_nodes[id];
    if (now - seen <= m_settings.idle)
    {
        return false;
    }
    if (m_settings.police == Policing::Reset)
    {
        return now - state.reset.value_or(0) >= PeriodOf(state);
    }
    Fill(state, now);
    return state.tokens >= LimitOf(state) || RateOf(state) <= 0;
}

/// Ends the activity of a node.
void Qrm::Leave(Table::Id id)
{
    if (m_nodes[id].state.budget)
    {
        m_nodes.Forget(id);
        return;
    }
    m_nodes.Remove(id);
    --m_sharing;
}

/// Gives equal shares from now on.
void Qrm::Share(std::int64_t now)
{
    m_granted = Granted(now);
    m_grantedUntil = now;
    const auto nodes = std::max(m_sharing + (m_othersSeen ? 1U : 0U), 1U);
    m_share = std::max(m_settings.rate - m_budgeted, 0.0) / nodes;
}

void Qrm::Check(const Json& settings) const
{
    SettingsOf(settings);
}

void Qrm::Set(const Json& settings, std::int64_t now)
{
    auto changed = SettingsOf(settings);
    Expire(now);
    FillAll(now);
    std::swap(m_settings, changed);
    TakeBudgets(changed.budgets);
    Share(now);
}

/// Gives what the rates until now have given.
void Qrm::FillAll(std::int64_t now)
{
    for (auto id = m_nodes.Oldest(); id; id = m_nodes.NewerThan(*id))
    {
        Fill(m_nodes[*id].state, now);
    }
    Fill(m_others, now);
}

void Qrm::TakeBudgets(const Budgets& before)
{
    ++m_budgetsSet;
    m_budgeted = 0;
    for (const auto& [address, rate] : m_settings.budgets)
    {
        const auto known = m_nodes.Find(address);
        const auto id = known ? *known : m_nodes.Insert(address);
        auto& state = m_nodes[id].state;
        m_sharing -= m_nodes.IsSeen(id) && !state.budget ? 1 : 0;
        state.budget = rate;
        state.budgetsSet = m_budgetsSet;
        m_budgeted += rate;
    }
    for (const auto& [address, rate] : before)
    {
        const auto id = *m_nodes.Find(address);
        if (m_nodes[id].state.budgetsSet != m_budgetsSet)
        {
            LoseBudget(id);
        }
    }
}

void Qrm::LoseBudget(Table::Id id)
{
    if (!m_nodes.IsSeen(id) || m_sharing >= m_settings.nodes)
    {
        m_nodes.Remove(id);
        return;
    }
    m_nodes[id].state.budget.reset();
    ++m_sharing;
}

Json Qrm::Read(std::int64_t) const
{
    auto byNode = Json::object();
    for (auto id = m_nodes.Newest(); id && byNode.size() < LISTED; id = m_nodes.OlderThan(*id))
    {
        byNode[TextOf(m_nodes[*id].key)] = ReadNode(m_nodes[*id].state);
    }
    auto read = m_counts.Read();
    read.update({{"nodes", m_nodes.Seen() + (m_othersSeen ? 1 : 0)},
                 {"share", m_share * BITS_PER_BYTE},
                 {"budgeted", m_budgeted * BITS_PER_BYTE},
                 {"others", m_othersPackets},
                 {"unmanaged", m_unmanaged},
                 {"by_node", byNode}});
    return read;
}

Json Qrm::ReadNode(const State& state) const
{
    const auto rtt = state.smallestRtt.Value();
    auto read = state.counts.Read();
    read["budget"] = RateOf(state) * BITS_PER_BYTE;
    read["rtt"] = rtt ? Json(static_cast<double>(*rtt) / NS_PER_S) : Json();
    return read;
}

} // namespace netboxit::stages
