// SPDX-License-Identifier: GPL-2.0-or-later
#include "base_uplink.h"

#include "unsolicited.h"

#include <algorithm>
#include <cmath>

namespace netboxit::wimax
{

namespace
{

/// Until PDUs of a connection were seen, its headers are taken to be a tenth of its payload.
constexpr double FIRST_GUESS_PAYLOAD = 10.0 * PDU_OVERHEAD;

} // namespace

BaseUplink::BaseUplink(const Configuration& configuration, std::unique_ptr<Scheduler> scheduler)
    : m_frameS(configuration.frame.frameS), m_scheduler(std::move(scheduler))
{
}

void BaseUplink::Add(const Subscriber& subscriber, const FlowTable& flows)
{
    auto& member = m_members.emplace_back();
    member.station = &subscriber;
    for (const auto& flow : flows.flows)
    {
        const bool extended = flow.scheduling == Scheduling::ErtPs;
        const auto reserved = UnsolicitedBytes(flow, flow.reservedRate);
        const auto largest = extended ? UnsolicitedBytes(flow, flow.maximumRate) : reserved;
        member.flows.push_back({flow,
                                m_connections++,
                                FlowCredit(flow, m_frameS),
                                0,
                                reserved,
                                largest,
                                largest,
                                ns3::Time(0),
                                FIRST_GUESS_PAYLOAD + PDU_OVERHEAD,
                                FIRST_GUESS_PAYLOAD});
    }
}

void BaseUplink::HearRequest(std::size_t subscriber, const BandwidthRequest& request)
{
    auto& flow = m_members[subscriber].flows[request.flow];
    switch (request.kind)
    {
    case RequestKind::Aggregate:
        flow.requested = request.bytes;
        break;
    case RequestKind::Incremental:
        flow.requested += request.bytes;
        break;
    case RequestKind::Size:
        // After none at all, any request brings grants of the greatest size back (6.3.5.2.2.1).
        flow.grant = flow.grant == 0 && request.bytes > 0 ? flow.largestGrant : request.bytes;
        break;
    }
}

void BaseUplink::HearPdu(std::size_t subscriber, std::size_t index, const Pdu& pdu)
{
    auto& flow = m_members[subscriber].flows[index];
    flow.credit.Take(pdu.payload);
    flow.airBytes += pdu.bytes;
    flow.payload += pdu.payload;
}

UplinkMap BaseUplink::Plan(const FrameLayout& layout, std::uint64_t frame, ns3::Time now)
{
    UplinkMap map;
    map.ranging = layout.HasRanging(frame);
    map.symbols = layout.UplinkOverhead(map.ranging);
    std::vector<ProfileId> profiles;
    for (const auto& member : m_members)
    {
        profiles.push_back(member.station->Uplink().Profile().value_or(MOST_ROBUST));
    }
    auto claims = Collect(now);
    UplinkRoom room(layout.UplinkSymbols() - map.symbols, layout.MostGrants(), profiles);
    m_scheduler->Share(claims.claims, room);
    auto shares = Distribute(claims);
    for (std::size_t index = 0; index < m_members.size(); ++index)
    {
        if (const auto symbols = room.Symbols(index); symbols > 0)
        {
            map.grants.push_back({m_members[index].station->Id(),
                                  profiles[index],
                                  map.symbols,
                                  symbols - SHORT_PREAMBLE,
                                  std::move(shares[index])});
            map.symbols += symbols;
        }
    }
    return map;
}

BaseUplink::Claims BaseUplink::Collect(ns3::Time now)
{
    Claims all;
    for (std::size_t index = 0; index < m_members.size(); ++index)
    {
        auto& member = m_members[index];
        if (!member.station->Entry().IsOperational())
        {
            continue;
        }
        for (std::size_t flow = 0; flow < member.flows.size(); ++flow)
        {
            bool poll = false;
            all.claims.push_back(ClaimFor(index, member.flows[flow], poll, now));
            all.flows.push_back(flow);
            all.polls.push_back(poll);
        }
    }
    return all;
}

Claim BaseUplink::ClaimFor(std::size_t member, Flow& flow, bool& poll, ns3::Time now)
{
    Claim claim;
    claim.burst = member;
    claim.scheduling = flow.flow.scheduling;
    claim.connection = flow.number;
    claim.weight = flow.flow.weight;
    claim.bytesPerSymbol =
        PROFILES[m_members[member].station->Uplink().Profile().value_or(MOST_ROBUST)].bytesPerSymbol;
    poll = false;
    if (flow.flow.scheduling == Scheduling::BestEffort)
    {
        claim.wanted = flow.requested;
        claim.permitted =
            std::min(claim.wanted, OnAir(flow.credit.maximum.Available(now), flow.airBytes / flow.payload));
        return claim;
    }
    const auto occasions = Occasions(flow, now);
    if (IsUnsolicited(flow.flow.scheduling) && flow.grant > 0)
    {
        claim.wanted = claim.permitted = occasions * flow.grant;
        claim.reserved = std::min(claim.wanted, occasions * flow.reservedGrant);
        return claim;
    }
    poll = occasions > 0;
    const auto header = poll ? BANDWIDTH_REQUEST_HEADER : 0;
    if (IsUnsolicited(flow.flow.scheduling))
    {
        claim.wanted = claim.reserved = claim.permitted = header;
        return claim;
    }
    const double airPerPayload = flow.airBytes / flow.payload;
    claim.wanted = flow.requested + header;
    claim.reserved =
        std::min(flow.requested, OnAir(flow.credit.reserved.Available(now), airPerPayload)) + header;
    claim.permitted =
        std::min(flow.requested, OnAir(flow.credit.maximum.Available(now), airPerPayload)) + header;
    return claim;
}

std::uint32_t BaseUplink::Occasions(Flow& flow, ns3::Time now) const
{
    std::uint32_t occasions = 0;
    while (flow.due <= now)
    {
        flow.due += flow.flow.interval;
        ++occasions;
    }
    // What a station missed while it was out of range is not made up for.
    const auto usual = std::max(1.0, std::ceil(m_frameS / flow.flow.interval.GetSeconds() - 1e-9));
    return std::min(occasions, static_cast<std::uint32_t>(usual));
}

std::vector<std::vector<UplinkShare>> BaseUplink::Distribute(const Claims& all)
{
    std::vector<std::vector<UplinkShare>> shares(m_members.size());
    for (std::size_t i = 0; i < all.claims.size(); ++i)
    {
        const auto& claim = all.claims[i];
        if (claim.granted == 0)
        {
            continue;
        }
        auto& flow = m_members[claim.burst].flows[all.flows[i]];
        const bool poll = all.polls[i] && claim.granted >= BANDWIDTH_REQUEST_HEADER;
        const auto data = claim.granted - (poll ? BANDWIDTH_REQUEST_HEADER : 0);
        flow.requested -= std::min(flow.requested, data);
        shares[claim.burst].push_back({all.flows[i], data, poll});
    }
    // The most urgent class first: so a station spends them.
    for (std::size_t member = 0; member < shares.size(); ++member)
    {
        const auto& flows = m_members[member].flows;
        std::ranges::stable_sort(
            shares[member], {}, [&](const UplinkShare& share) { return flows[share.flow].flow.scheduling; });
    }
    return shares;
}

double BaseUplink::ReservedSymbols() const
{
    double symbols = 0.0;
    for (const auto& member : m_members)
    {
        double bytes = 0.0;
        for (const auto& flow : member.flows)
        {
            const double occasions = m_frameS / flow.flow.interval.GetSeconds();
            const bool polled = flow.flow.scheduling == Scheduling::RtPs || flow.flow.scheduling == Scheduling::NrtPs;
            bytes += IsUnsolicited(flow.flow.scheduling)
                         ? flow.reservedGrant * occasions
                         : flow.flow.reservedRate * m_frameS / 8.0 * flow.airBytes / flow.payload;
            bytes += polled ? BANDWIDTH_REQUEST_HEADER * occasions : 0.0;
        }
        if (member.station->Entry().IsOperational() && bytes > 0.0)
        {
            const auto profile = member.station->Uplink().Profile().value_or(MOST_ROBUST);
            symbols += SHORT_PREAMBLE + (bytes + TAIL_BYTES) / PROFILES[profile].bytesPerSymbol;
        }
    }
    return symbols;
}

void BaseUplink::Abandon(std::size_t subscriber)
{
    for (auto& flow : m_members[subscriber].flows)
    {
        flow.requested = 0;
        flow.grant = flow.largestGrant;
    }
}

} // namespace netboxit::wimax
