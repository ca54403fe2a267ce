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
/// That of the one which connections share.
constexpr std::int64_t SHARED_QUEUE_STREAM = FIRST_QUEUE_STREAM - 1;

bool IsShared(const Json& queue)
{
    return queue.at("discipline") == "modular";
}

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

BaseDownlink::Member::Member(const Subscriber& subscriber, const FlowTable& table, const std::vector<std::string>& names)
    : station(&subscriber), channel(names), byClass(table.byClass)
{
    channel.Add(subscriber.Id(), subscriber.Downlink());
}

BaseDownlink::BaseDownlink(const Configuration& configuration,
                           const std::vector<std::string>& names,
                           Accounts& accounts,
                           std::unique_ptr<Scheduler> scheduler)
    : m_frameS(configuration.frame.frameS), m_names(names), m_accounts(accounts),
      m_scheduler(std::move(scheduler)), m_channels(names),
      m_broadcast{Connection(BroadcastFlow(configuration), accounts, FIRST_QUEUE_STREAM + BROADCAST_CONNECTION, &m_channels),
                  FlowCredit(BroadcastFlow(configuration), configuration.frame.frameS),
                  BROADCAST_CONNECTION}
{
    if (IsShared(configuration.queue))
    {
        m_shared = MakeSduQueue(configuration.queue, accounts, SHARED_QUEUE_STREAM, &m_channels);
    }
}

void BaseDownlink::Add(const Subscriber& subscriber, const FlowTable& flows)
{
    auto& member = m_members.emplace_back(subscriber, flows, m_names);
    m_channels.Add(subscriber.Id(), subscriber.Downlink());
    for (const auto& flow : flows.flows)
    {
        const auto number = m_connections++;
        const auto stream = FIRST_QUEUE_STREAM + static_cast<std::int64_t>(number);
        member.flows.push_back(
            {Connection(flow, m_accounts, stream, &member.channel), FlowCredit(flow, m_frameS), number});
    }
}

void BaseDownlink::Enqueue(std::size_t subscriber,
                           const std::shared_ptr<Sdu>& sdu,
                           Bytes frame,
                           const FrameLayout& layout)
{
    auto& member = m_members[subscriber];
    auto& flow = FlowOf(member, *sdu);
    const auto rate = layout.DownlinkRateBps(member.Profile());
    if (Shares(flow))
    {
        m_shared->Enqueue(sdu, EntryOf(*sdu, frame), sdu->enqueued.GetNanoSeconds(), rate);
    }
    else
    {
        flow.connection.Enqueue(sdu, frame, rate);
    }
}

void BaseDownlink::EnqueueBroadcast(const std::shared_ptr<Sdu>& sdu, Bytes frame, const FrameLayout& layout)
{
    if (m_shared)
    {
        m_shared->Enqueue(sdu, EntryOf(*sdu, frame), sdu->enqueued.GetNanoSeconds(), BroadcastRateBps(layout));
    }
    else
    {
        m_broadcast.connection.Enqueue(sdu, frame, BroadcastRateBps(layout));
    }
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
    if (!IsShared(queue))
    {
        Separate(layout, now);
    }
    else if (m_shared)
    {
        m_shared->Set(queue, now.GetNanoSeconds(), BroadcastRateBps(layout));
    }
    else
    {
        auto shared = MakeSduQueue(queue, m_accounts, SHARED_QUEUE_STREAM, &m_channels);
        shared->ResetStatistics(now.GetNanoSeconds());
        Share(std::move(shared), layout, now);
    }
}

void BaseDownlink::Share(std::unique_ptr<SduQueue> shared, const FrameLayout& layout, ns3::Time now)
{
    auto waiting = m_broadcast.connection.MoveOut(now);
    for (auto& member : m_members)
    {
        for (auto& flow : member.flows)
        {
            if (flow.connection.Flow().MayShareQueue())
            {
                std::ranges::move(flow.connection.MoveOut(now), std::back_inserter(waiting));
            }
        }
    }
    std::ranges::stable_sort(waiting, {}, [](const auto& moving) { return moving.waiting.entered; });
    m_shared = std::move(shared);
    for (auto& moving : waiting)
    {
        const auto rate = layout.DownlinkRateBps(Carrier(*moving.item).second);
        m_shared->MoveIn(std::move(moving), now.GetNanoSeconds(), rate);
    }
}

void BaseDownlink::Separate(const FrameLayout& layout, ns3::Time now)
{
    const auto shared = std::exchange(m_shared, nullptr);
    for (auto& moving : shared ? shared->MoveOut(now.GetNanoSeconds()) : std::vector<SduQueue::Moving>())
    {
        const auto [flow, profile] = Carrier(*moving.item);
        flow->connection.MoveIn(std::move(moving), now, layout.DownlinkRateBps(profile));
    }
}

BaseDownlink::Member& BaseDownlink::MemberOf(StationId subscriber)
{
    return *std::ranges::find(m_members, subscriber, [](const Member& member) { return member.station->Id(); });
}

std::pair<BaseDownlink::Flow*, ProfileId> BaseDownlink::Carrier(const Sdu& sdu)
{
    if (sdu.receivers.size() > 1)
    {
        return {&m_broadcast, BroadcastProfile().value_or(MOST_ROBUST)};
    }
    auto& member = MemberOf(sdu.receivers.front());
    return {&FlowOf(member, sdu), member.Profile()};
}

DownlinkPlan BaseDownlink::Plan(const FrameLayout& layout, const UplinkMap& announced, ns3::Time now)
{
    if (m_shared)
    {
        Distribute(layout, announced, now);
    }
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

void BaseDownlink::Distribute(const FrameLayout& layout, const UplinkMap& announced, ns3::Time now)
{
    DownlinkRoom room(layout, announced);
    const auto fits = [&room](ProfileId burst, std::uint32_t bytes)
    {
        const auto left = room.Left(burst);
        room.Take(burst, std::min(bytes, left));
        return bytes <= left;
    };
    // Reserved rates go first, and what was moved for an earlier frame.
    const auto before = Collect(layout, now);
    bool hasRoom = !before.claims.empty();
    for (std::size_t i = 0; i < before.claims.size(); ++i)
    {
        const auto& claim = before.claims[i];
        const bool isMoved = before.flows[i] == &m_broadcast || Shares(*before.flows[i]);
        hasRoom &= fits(claim.burst, isMoved ? claim.wanted : claim.reserved);
    }
    while (hasRoom)
    {
        const auto sdu = m_shared->Dequeue(now.GetNanoSeconds());
        if (!sdu)
        {
            return;
        }
        const auto [flow, profile] = Carrier(**sdu);
        const auto waited = flow->connection.AirBytes();
        flow->connection.Append(*sdu);
        const auto waits = flow->connection.AirBytes();
        hasRoom = fits(profile, waits - std::min(waited, waits));
    }
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
    if (m_shared)
    {
        m_shared->ClearTo(m_members[subscriber].station->Id(), Loss::Outage, now.GetNanoSeconds());
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
                         {"scheduling", SCHEDULING_NAMES[static_cast<std::size_t>(parameters.scheduling)]}});
        if (!Shares(flow))
        {
            flows.back()["queue"] = flow.connection.ReadQueue(now);
        }
    }
    return flows;
}

void BaseDownlink::ResetQueueStatistics(ns3::Time now)
{
    if (m_shared)
    {
        m_shared->ResetStatistics(now.GetNanoSeconds());
    }
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
