// SPDX-License-Identifier: GPL-2.0-or-later
#include "base_station.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace netboxit::wimax
{

namespace
{

/// Until PDUs of a connection were seen, its headers are taken to be a tenth of its payload.
constexpr double FIRST_GUESS_PAYLOAD = 10.0 * PDU_OVERHEAD;

constexpr double LARGEST_SDU = ETHERNET_HEADER + 1500;

std::uint32_t
Scaled(std::uint32_t payload, double factor)
{
    return static_cast<std::uint32_t>(std::min(std::ceil(payload * factor), 2147483648.0));
}

/// Bytes of one unsolicited grant: the payload of an interval, and headers for the SDUs in it, of which the first may have begun in
/// the grant before and the last may end in the next.
std::uint32_t
UnsolicitedBytes(const ServiceFlow& flow)
{
    const auto payload = static_cast<std::uint32_t>(std::ceil(flow.reservedRate * flow.interval.GetSeconds() / 8.0));
    const auto sdus = flow.packetBytes > 0 ? (payload + flow.packetBytes - 1) / flow.packetBytes : 1;
    return payload + (sdus + 1) * PDU_OVERHEAD + 2 * FRAGMENTATION_SUBHEADER;
}

/// The uplink subframe as bursts by subscriber.
class UplinkRoom : public Room
{
  public:
    UplinkRoom(std::uint32_t symbols, std::vector<ProfileId> profiles)
        : m_symbols(symbols),
          m_profiles(std::move(profiles)),
          m_bytes(m_profiles.size())
    {
    }

    std::uint32_t Left(std::size_t burst) const override
    {
        const auto others = Used() - Symbols(burst);
        if (others + SHORT_PREAMBLE >= m_symbols)
        {
            return 0;
        }
        return BurstBytes(m_profiles[burst], m_symbols - others - SHORT_PREAMBLE) - m_bytes[burst];
    }

    void Take(std::size_t burst, std::uint32_t bytes) override { m_bytes[burst] += bytes; }

    std::uint32_t Symbols(std::size_t burst) const
    {
        return m_bytes[burst] == 0 ? 0 : SHORT_PREAMBLE + BurstSymbols(m_profiles[burst], m_bytes[burst]);
    }

    std::uint32_t Used() const
    {
        std::uint32_t used = 0;
        for (std::size_t burst = 0; burst < m_bytes.size(); ++burst)
        {
            used += Symbols(burst);
        }
        return used;
    }

  private:
    std::uint32_t m_symbols;
    std::vector<ProfileId> m_profiles;
    std::vector<std::uint32_t> m_bytes;
};

/// The downlink subframe as bursts by profile; each costs an element of the DL-MAP.
class DownlinkRoom : public Room
{
  public:
    DownlinkRoom(const FrameLayout& layout, const UplinkMap& announced)
        : m_layout(layout),
          m_announced(announced)
    {
    }

    std::uint32_t Left(std::size_t burst) const override
    {
        const auto opened = Bursts() + (m_bytes[burst] == 0 ? 1 : 0);
        const auto others = Overhead(opened) + DataSymbols() - BurstSymbols(burst, m_bytes[burst]);
        if (others >= m_layout.DownlinkSymbols())
        {
            return 0;
        }
        return BurstBytes(burst, m_layout.DownlinkSymbols() - others) - m_bytes[burst];
    }

    void Take(std::size_t burst, std::uint32_t bytes) override { m_bytes[burst] += bytes; }

    std::uint32_t Overhead() const { return Overhead(Bursts()); }

  private:
    std::uint32_t Overhead(std::uint32_t bursts) const
    {
        const auto grants = static_cast<std::uint32_t>(m_announced.grants.size());
        return m_layout.DownlinkOverhead(bursts, grants, m_announced.ranging);
    }

    std::uint32_t Bursts() const
    {
        return static_cast<std::uint32_t>(
            std::count_if(m_bytes.begin(), m_bytes.end(), [](std::uint32_t bytes) { return bytes > 0; }));
    }

    std::uint32_t DataSymbols() const
    {
        std::uint32_t symbols = 0;
        for (ProfileId profile = 0; profile < m_bytes.size(); ++profile)
        {
            symbols += BurstSymbols(profile, m_bytes[profile]);
        }
        return symbols;
    }

    const FrameLayout& m_layout;
    const UplinkMap& m_announced;
    std::array<std::uint32_t, PROFILES.size()> m_bytes{};
};

ServiceFlow
BroadcastFlow(const Configuration& configuration)
{
    ServiceFlow flow;
    flow.name = "broadcast";
    flow.direction = Direction::Downlink;
    flow.queueBytes = configuration.queueBytes;
    return flow;
}

} // namespace

BaseStation::BaseStation(const Configuration& configuration,
                         Accounts& accounts,
                         std::unique_ptr<Scheduler> uplink,
                         std::unique_ptr<Scheduler> downlink)
    : m_frameS(configuration.frame.frameS),
      m_accounts(accounts),
      m_uplinkScheduler(std::move(uplink)),
      m_downlinkScheduler(std::move(downlink)),
      m_broadcast{Connection(BroadcastFlow(configuration), accounts), MakeRates(BroadcastFlow(configuration))}
{
}

void
BaseStation::Add(const Subscriber& subscriber, const FlowTable& uplink, const FlowTable& downlink)
{
    auto& member = m_members.emplace_back();
    member.station = &subscriber;
    member.downlinkByClass = downlink.byClass;
    for (const auto& flow : uplink.flows)
    {
        member.uplink.push_back({flow, MakeRates(flow), 0, ns3::Time(0), FIRST_GUESS_PAYLOAD * 1.1, FIRST_GUESS_PAYLOAD});
    }
    for (const auto& flow : downlink.flows)
    {
        member.downlink.push_back({Connection(flow, m_accounts), MakeRates(flow)});
    }
}

BaseStation::Rates
BaseStation::MakeRates(const ServiceFlow& flow) const
{
    // Deep enough for two frames or intervals, and for a pair of the largest SDUs.
    const double span = 2.0 * std::max(m_frameS, flow.interval.GetSeconds());
    const auto depth = [&](double rate) { return std::max(rate * span / 8.0, 2.0 * LARGEST_SDU); };
    return {TokenBucket(flow.reservedRate, flow.reservedRate > 0.0 ? depth(flow.reservedRate) : 0.0),
            TokenBucket(flow.maximumRate, depth(flow.maximumRate))};
}

void
BaseStation::Enqueue(std::size_t subscriber, std::shared_ptr<Sdu> sdu)
{
    auto& member = m_members[subscriber];
    member.downlink[member.downlinkByClass.at(sdu->frame.trafficClass)].connection.Enqueue(std::move(sdu));
}

void
BaseStation::HearRequest(std::size_t subscriber, const BandwidthRequest& request)
{
    auto& flow = m_members[subscriber].uplink[request.flow];
    flow.requested = request.incremental ? flow.requested + request.bytes : request.bytes;
}

void
BaseStation::HearPdu(std::size_t subscriber, std::size_t index, const Pdu& pdu)
{
    auto& flow = m_members[subscriber].uplink[index];
    flow.rates.reserved.Take(pdu.payload);
    flow.rates.maximum.Take(pdu.payload);
    flow.airBytes += pdu.bytes;
    flow.payload += pdu.payload;
}

std::uint32_t
BaseStation::Occasions(UplinkFlow& flow, ns3::Time now) const
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

Claim
BaseStation::ClaimUplink(std::size_t member, UplinkFlow& flow, bool& poll, ns3::Time now)
{
    Claim claim;
    claim.burst = member;
    claim.scheduling = flow.flow.scheduling;
    poll = false;
    if (flow.flow.scheduling == Scheduling::BestEffort)
    {
        claim.wanted = flow.requested;
        claim.permitted =
            std::min(claim.wanted, Scaled(flow.rates.maximum.Available(now), flow.airBytes / flow.payload));
        return claim;
    }
    const auto occasions = Occasions(flow, now);
    if (flow.flow.scheduling == Scheduling::Ugs)
    {
        claim.wanted = claim.reserved = claim.permitted = occasions * UnsolicitedBytes(flow.flow);
        return claim;
    }
    poll = occasions > 0;
    const auto header = poll ? BANDWIDTH_REQUEST_HEADER : 0;
    const double airPerPayload = flow.airBytes / flow.payload;
    claim.wanted = flow.requested + header;
    claim.reserved = std::min(flow.requested, Scaled(flow.rates.reserved.Available(now), airPerPayload)) + header;
    claim.permitted = std::min(flow.requested, Scaled(flow.rates.maximum.Available(now), airPerPayload)) + header;
    return claim;
}

UplinkMap
BaseStation::PlanUplink(const FrameLayout& layout, std::uint64_t frame, ns3::Time now)
{
    UplinkMap map;
    map.ranging = layout.HasRanging(frame);
    std::vector<Claim> claims;
    struct Origin
    {
        std::size_t flow;
        bool poll;
    };
    std::vector<Origin> origins;
    std::vector<ProfileId> profiles;
    for (std::size_t index = 0; index < m_members.size(); ++index)
    {
        auto& member = m_members[index];
        profiles.push_back(member.station->Uplink().Profile().value_or(MOST_ROBUST));
        if (!member.station->Entry().IsOperational())
        {
            continue;
        }
        for (std::size_t flow = 0; flow < member.uplink.size(); ++flow)
        {
            bool poll = false;
            claims.push_back(ClaimUplink(index, member.uplink[flow], poll, now));
            origins.push_back({flow, poll});
        }
    }
    const auto overhead = layout.UplinkOverhead(map.ranging);
    UplinkRoom room(layout.UplinkSymbols() - overhead, profiles);
    m_uplinkScheduler->Share(claims, room);

    std::vector<UplinkGrant> grants(m_members.size());
    for (std::size_t i = 0; i < claims.size(); ++i)
    {
        const auto& claim = claims[i];
        if (claim.granted == 0)
        {
            continue;
        }
        auto& flow = m_members[claim.burst].uplink[origins[i].flow];
        const bool poll = origins[i].poll && claim.granted >= BANDWIDTH_REQUEST_HEADER;
        const auto data = claim.granted - (poll ? BANDWIDTH_REQUEST_HEADER : 0);
        flow.requested -= std::min(flow.requested, data);
        grants[claim.burst].shares.push_back({origins[i].flow, data, poll});
    }
    map.symbols = overhead;
    for (std::size_t index = 0; index < grants.size(); ++index)
    {
        if (room.Symbols(index) == 0)
        {
            continue;
        }
        auto& grant = grants[index];
        grant.subscriber = m_members[index].station->Id();
        grant.profile = profiles[index];
        grant.firstSymbol = map.symbols;
        grant.symbols = room.Symbols(index) - SHORT_PREAMBLE;
        map.symbols += room.Symbols(index);
        map.grants.push_back(std::move(grant));
    }
    return map;
}

std::optional<ProfileId>
BaseStation::BroadcastProfile() const
{
    std::optional<ProfileId> robust;
    for (const auto& member : m_members)
    {
        if (member.station->Entry().IsOperational())
        {
            const auto profile = member.station->Downlink().Profile().value_or(MOST_ROBUST);
            robust = std::min(robust.value_or(profile), profile);
        }
    }
    return robust;
}

Claim
BaseStation::ClaimDownlink(DownlinkFlow& flow, ProfileId profile, ns3::Time now)
{
    flow.connection.DropExpired(now);
    Claim claim;
    claim.burst = profile;
    claim.scheduling = flow.connection.Flow().scheduling;
    claim.wanted = flow.connection.AirBytes();
    const double airPerPayload =
        claim.wanted > 0 ? static_cast<double>(claim.wanted) / flow.connection.QueuedBytes() : 1.0;
    claim.reserved = std::min(claim.wanted, Scaled(flow.rates.reserved.Available(now), airPerPayload));
    claim.permitted = std::min(claim.wanted, Scaled(flow.rates.maximum.Available(now), airPerPayload));
    return claim;
}

DownlinkPlan
BaseStation::PlanDownlink(const FrameLayout& layout, const UplinkMap& announced, ns3::Time now)
{
    std::vector<Claim> claims;
    std::vector<DownlinkFlow*> flows;
    const auto add = [&](DownlinkFlow& flow, ProfileId profile) {
        claims.push_back(ClaimDownlink(flow, profile, now));
        flows.push_back(&flow);
    };
    for (auto& member : m_members)
    {
        if (!member.station->Entry().IsOperational())
        {
            continue;
        }
        for (auto& flow : member.downlink)
        {
            add(flow, member.station->Downlink().Profile().value_or(MOST_ROBUST));
        }
    }
    if (const auto profile = BroadcastProfile())
    {
        add(m_broadcast, *profile);
    }
    DownlinkRoom room(layout, announced);
    m_downlinkScheduler->Share(claims, room);

    // Bursts go out in the order of decreasing robustness (8.3.5.1), connections within one by class.
    std::map<std::pair<ProfileId, Scheduling>, std::vector<std::size_t>> order;
    for (std::size_t i = 0; i < claims.size(); ++i)
    {
        order[{claims[i].burst, claims[i].scheduling}].push_back(i);
    }
    DownlinkPlan plan;
    plan.symbols = room.Overhead();
    for (const auto& [key, indices] : order)
    {
        for (const auto i : indices)
        {
            for (auto& pdu : flows[i]->connection.Take(claims[i].granted))
            {
                if (plan.bursts.empty() || plan.bursts.back().profile != key.first)
                {
                    plan.bursts.push_back({key.first, 0, 0, {}});
                }
                flows[i]->rates.reserved.Take(pdu.payload);
                flows[i]->rates.maximum.Take(pdu.payload);
                auto& burst = plan.bursts.back();
                const auto offset = burst.bytes;
                burst.bytes += pdu.bytes;
                burst.pdus.emplace_back(std::move(pdu), offset);
            }
        }
    }
    for (auto& burst : plan.bursts)
    {
        burst.firstSymbol = plan.symbols;
        plan.symbols += BurstSymbols(burst.profile, burst.bytes);
    }
    return plan;
}

void
BaseStation::Abandon(std::size_t subscriber)
{
    auto& member = m_members[subscriber];
    for (auto& flow : member.uplink)
    {
        flow.requested = 0;
    }
    for (auto& flow : member.downlink)
    {
        flow.connection.DropAll(Loss::Outage);
    }
}

std::uint32_t
BaseStation::QueuedBytes(std::size_t subscriber) const
{
    std::uint32_t bytes = 0;
    for (const auto& flow : m_members[subscriber].downlink)
    {
        bytes += flow.connection.QueuedBytes();
    }
    return bytes;
}

Json
BaseStation::ReadFlows(std::size_t subscriber) const
{
    Json flows = Json::array();
    for (const auto& flow : m_members[subscriber].downlink)
    {
        const auto& parameters = flow.connection.Flow();
        flows.push_back({{"class", parameters.name},
                         {"scheduling", SCHEDULING_NAMES[static_cast<std::size_t>(parameters.scheduling)]},
                         {"queued_bytes", flow.connection.QueuedBytes()}});
    }
    return flows;
}

} // namespace netboxit::wimax
