// SPDX-License-Identifier: GPL-2.0-or-later
#include "meter.h"

#include <algorithm>

namespace netboxit::stages
{

namespace
{

constexpr std::array<std::string_view, 3> SIDE_NAMES{"entering", "leaving", "both"};
constexpr std::array<std::string_view, 2> PER_NAMES{"port", "node"};
constexpr double DEFAULT_BURST_S = 0.1;
constexpr double DEFAULT_BURST_LEAST = 10 * Meter::SMALLEST_BURST;
/// A petabyte.
constexpr double LARGEST_BURST = 1e15;

} // namespace

Meter::Settings Meter::SettingsOf(const SettingsReader& settings)
{
    const double rate = settings.Number("rate", RATES) / BITS_PER_BYTE;
    const double usual = std::max(rate * DEFAULT_BURST_S, DEFAULT_BURST_LEAST);
    return {.profile = {.rate = rate, .burst = settings.NumberOr("burst", usual, {SMALLEST_BURST, LARGEST_BURST})},
            .side = settings.ChoiceOr("direction", SIDE_NAMES, Side::Entering),
            .perNode = settings.ChoiceOr("per", PER_NAMES, false)};
}

Meter::Meter(const SettingsReader& settings) : m_settings(SettingsOf(settings))
{
    Prepare();
}

/// Has tables of nodes where they are needed, and only there.
void Meter::Prepare()
{
    for (const auto direction : {Direction::FromNode, Direction::ToNode})
    {
        auto& nodes = BucketsOf(direction).nodes;
        const bool isNeeded = m_settings.perNode && Has(direction);
        if (!isNeeded)
        {
            nodes.reset();
        }
        else if (!nodes)
        {
            nodes.emplace(CAPACITY, m_seed);
        }
    }
}

bool Meter::Conforms(const Headers& headers, Direction direction, std::int64_t now)
{
    return BucketOf(headers, direction, now).Takes(headers.length, m_settings.profile, now);
}

TokenBucket& Meter::BucketOf(const Headers& headers, Direction direction, std::int64_t now)
{
    auto& [common, nodes] = BucketsOf(direction);
    if (!nodes || !headers.ip)
    {
        return common;
    }
    const auto address = NodeOf(*headers.ip, direction);
    auto id = nodes->Find(address);
    if (!id && MakesRoom(*nodes, now))
    {
        id = nodes->Insert(address);
    }
    if (!id)
    {
        ++m_shared;
        return common;
    }
    nodes->See(*id, now);
    return (*nodes)[*id].state;
}

/// For one more node. A bucket is full after so long a silence as fills an empty one.
bool Meter::MakesRoom(Nodes<TokenBucket>& nodes, std::int64_t now) const
{
    const auto& [rate, burst] = m_settings.profile;
    const auto oldest = nodes.Oldest();
    if (nodes.IsFull() && static_cast<double>(now - nodes[*oldest].seen) / NS_PER_S * rate >= burst)
    {
        nodes.Remove(*oldest);
    }
    return !nodes.IsFull();
}

void Meter::Set(const SettingsReader& settings, std::int64_t now)
{
    const auto changed = SettingsOf(settings);
    for (auto& [common, nodes] : m_buckets)
    {
        common.Fill(m_settings.profile, now);
        for (auto id = nodes ? nodes->Oldest() : std::nullopt; id; id = nodes->NewerThan(*id))
        {
            (*nodes)[*id].state.Fill(m_settings.profile, now);
        }
    }
    m_settings = changed;
    Prepare();
}

std::uint32_t Meter::KnownNodes() const
{
    std::uint32_t count = 0;
    for (const auto& [common, nodes] : m_buckets)
    {
        count += nodes ? nodes->Seen() : 0;
    }
    return count;
}

} // namespace netboxit::stages
