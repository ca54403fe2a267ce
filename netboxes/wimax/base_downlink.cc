// SPDX-License-Identifier: GPL-2.0-or-later
#include "base_downlink.h"

#include <algorithm>
#include <map>

namespace netboxit::wimax
{

namespace
{

/// What headers are reckoned to add to reserved rates.
constexpr double HEADERS = 0.1;

/// Random streams of the queues, one for each connection.
constexpr std::int64_t FIRST_QUEUE_STREAM = std::int64_t{1} << 23;

ServiceFlow BroadcastFlow(const Configuration& configuration)
{
    ServiceFlow flow;
    flow.name = "broadcast";
    flow.direction = Direction::Downlink;
    flow.queue = configuration.queue;
    // Never packed: SDUs on it may have different receivers.
    flow.carriage = {configuration.carriage.fragmentation, false, configuration.carriage.crc};
    return flow;
}

} // namespace

BaseDownlink::BaseDownlink(const Configuration& configuration,
                           Accounts& accounts,
                           std::unique_ptr<Scheduler> scheduler)
    : m_frameS(configuration.frame.frameS), m_accounts(accounts),
      m_scheduler(std::move(scheduler)),
      m_broadcast{Connection(BroadcastFlow(configuration), accounts, FIRST_QUEUE_STREAM + BROADCAST_CONNECTION),
                  FlowCredit(BroadcastFlow(configuration), configuration.frame.frameS),
                  BROADCAST_CONNECTION}
{
}

void BaseDownlink::Add(const Subscriber& subscriber, const FlowTable& flows)
{
    auto& member = m_members.emplace_back();
    member.station = &subscriber;
    member.byClass = flows.byClass;
    for (const auto& flow : flows.flows)
    {
        const auto number = m_connections++;
        const auto stream = FIRST_QUEUE_STREAM + static_cast<std::int64_t>(number);
        member.flows.push_back({Connection(flow, m_accounts, stream), FlowCredit(flow, m_frameS), number});
    }
}

void BaseDownlink::Enqueue(std::size_t subscriber,
                           const std::shared_ptr<Sdu>& sdu,
                           Bytes frame,
                           const FrameLayout& layout)
{
    auto& member = m_members[subscriber];
    auto& flow = member.flows[member.byClass.at(sdu->frame.trafficClass)];
    flow.connection.Enqueue(sdu, frame, layout.DownlinkRateBps(member.Profile()));
}

void BaseDownlink::EnqueueBroadcast(const std::shared_ptr<Sdu>& sdu, Bytes frame, const FrameLayout& layout)
{
    m_broadcast.connection.Enqueue(sdu, frame, BroadcastRateBps(layout));
}

void BaseDownlink::SetQueue(const Json& queue, const FrameLayout& layout, ns3::Time now)
{
    // It has none of its own, and what it refuses the others do, too: so it comes first.
    m_broadcast.connection.SetQueue(queue, now, BroadcastRateBps(layout));
    for (auto& member : m_members)
    {
        for (auto& flow : member.flows)
        {
            if (!flow.connection.Flow().hasOwnQueue)
            {
                flow.connection.SetQueue(queue, now, layout.DownlinkRateBps(member.Profile()));
            }
        }
    }
}

DownlinkPlan BaseDownlink::Plan(const FrameLayout& layout, const UplinkMap& announced, ns3::Time now)
{
    auto all = Collect(layout, now);
    DownlinkRoom room(layout, announced);
    m_scheduler->Share(all.claims, room);

    // Bursts go out in the order of decreasing robustness (8.3.5.1), connections within one by class.
    std::map<std::pair<ProfileId, Scheduling>, std::vector<std::size_t>> order;
    for (std::size_t i = 0; i < all.claims.size(); ++i)
    {
        order[{all.claims[i].burst, all.claims[i].scheduling}].push_back(i);
    }
    std::map<ProfileId, DownlinkBurst> bursts;
    for (const auto& [key, indices] : order)
    {
        auto& burst = bursts[key.first];
        for (const auto i : indices)
        {
            for (auto& pdu : all.flows[i]->connection.Take(all.claims[i].granted, now))
            {
                all.flows[i]->credit.Take(pdu.payload);
                const auto offset = burst.bytes;
                burst.bytes += pdu.bytes;
                burst.pdus.emplace_back(std::move(pdu), offset);
            }
        }
    }
    DownlinkPlan plan;
    plan.symbols = room.Overhead();
    for (auto& [profile, burst] : bursts)
    {
        burst.profile = profile;
        burst.firstSymbol = plan.symbols;
        plan.symbols += BurstSymbols(profile, burst.bytes);
        plan.bursts.push_back(std::move(burst));
    }
    return plan;
}

BaseDownlink::Claims BaseDownlink::Collect(const FrameLayout& layout, ns3::Time now)
{
    std::array<std::uint32_t, PROFILES.size()> largest;
    for (ProfileId profile = 0; profile < PROFILES.size(); ++profile)
    {
        largest[profile] = layout.LargestDownlinkBurst(profile);
    }
    Claims all;
    const auto add = [&](Flow& flow, ProfileId profile)
    {
        flow.connection.DropOversize(largest[profile], now);
        all.claims.push_back(ClaimFor(flow, profile, now));
        all.flows.push_back(&flow);
    };
    for (auto& member : m_members)
    {
        if (member.station->Entry().IsOperational())
        {
            for (auto& flow : member.flows)
            {
                add(flow, member.Profile());
            }
        }
    }
    if (const auto profile = BroadcastProfile())
    {
        add(m_broadcast, *profile);
    }
    return all;
}

Claim BaseDownlink::ClaimFor(Flow& flow, ProfileId profile, ns3::Time now)
{
    flow.connection.DropExpired(now);
    Claim claim;
    claim.burst = profile;
    claim.scheduling = flow.connection.Flow().scheduling;
    claim.connection = flow.number;
    claim.weight = flow.connection.Flow().weight;
    claim.bytesPerSymbol = PROFILES[profile].bytesPerSymbol;
    claim.wanted = flow.connection.AirBytes();
    const double airPerPayload =
        claim.wanted > 0 ? static_cast<double>(claim.wanted) / flow.connection.QueuedBytes() : 1.0;
    claim.reserved = std::min(claim.wanted, OnAir(flow.credit.reserved.Available(now), airPerPayload));
    claim.permitted = std::min(claim.wanted, OnAir(flow.credit.maximum.Available(now), airPerPayload));
    return claim;
}

std::optional<ProfileId> BaseDownlink::BroadcastProfile() const
{
    std::optional<ProfileId> robust;
    for (const auto& member : m_members)
    {
        if (member.station->Entry().IsOperational())
        {
            const auto profile = member.Profile();
            robust = std::min(robust.value_or(profile), profile);
        }
    }
    return robust;
}

double BaseDownlink::ReservedSymbols() const
{
    double symbols = 0.0;
    for (const auto& member : m_members)
    {
        if (!member.station->Entry().IsOperational())
        {
            continue;
        }
        const auto profile = member.Profile();
        for (const auto& flow : member.flows)
        {
            const double bytes = flow.connection.Flow().reservedRate * m_frameS / 8.0;
            symbols += (1.0 + HEADERS) * bytes / PROFILES[profile].bytesPerSymbol;
        }
    }
    return symbols;
}

void BaseDownlink::Abandon(std::size_t subscriber, ns3::Time now)
{
    for (auto& flow : m_members[subscriber].flows)
    {
        flow.connection.DropAll(Loss::Outage, now);
    }
}

std::uint32_t BaseDownlink::QueuedBytes(std::size_t subscriber) const
{
    std::uint32_t bytes = 0;
    for (const auto& flow : m_members[subscriber].flows)
    {
        bytes += flow.connection.QueuedBytes();
    }
    return bytes;
}

Json BaseDownlink::ReadFlows(std::size_t subscriber, ns3::Time now) const
{
    Json flows = Json::array();
    for (const auto& flow : m_members[subscriber].flows)
    {
        const auto& parameters = flow.connection.Flow();
        flows.push_back({{"class", parameters.name},
                         {"scheduling", SCHEDULING_NAMES[static_cast<std::size_t>(parameters.scheduling)]},
                         {"queue", flow.connection.ReadQueue(now)}});
    }
    return flows;
}

void BaseDownlink::ResetQueueStatistics(ns3::Time now)
{
    m_broadcast.connection.ResetQueueStatistics(now);
    for (auto& member : m_members)
    {
        for (auto& flow : member.flows)
        {
            flow.connection.ResetQueueStatistics(now);
        }
    }
}

} // namespace netboxit::wimax
