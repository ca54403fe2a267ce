// SPDX-License-Identifier: GPL-2.0-or-later
#include "mac_overhead.h"
#include "subscriber.h"

#include <utility>

namespace netboxit::wimax
{

UplinkBurst Subscriber::Transmit(const UplinkGrant& grant, ns3::Time now)
{
    std::vector<bool> polled(m_flows.size(), false);
    std::uint32_t kept = 0;
    for (const auto& share : grant.shares)
    {
        auto& flow = m_flows[share.flow];
        flow.promised -= std::min(flow.promised, share.bytes);
        polled[share.flow] = share.poll;
        m_polls += share.poll ? 1 : 0;
        kept += share.poll ? BANDWIDTH_REQUEST_HEADER : 0;
        if (flow.connection.Flow().scheduling == Scheduling::ErtPs)
        {
            flow.newSize = flow.grantSize.Ask(flow.connection.AirBytes(), share.bytes);
        }
    }
    auto room = BurstBytes(grant.profile, grant.symbols);
    room -= std::min(room, kept);
    UplinkBurst burst;
    for (auto& flow : m_flows)
    {
        flow.connection.DropExpired(now);
    }
    std::vector<bool> asked = polled;
    if (m_byShare)
    {
        for (const auto& share : grant.shares)
        {
            room -= SpendOnData(burst, share.flow, std::min(room, share.bytes), !asked[share.flow], now);
            asked[share.flow] = true;
        }
    }
    for (const auto index : m_order)
    {
        room -= m_perConnection ? 0 : SpendOnData(burst, index, room, !asked[index], now);
    }
    SpendOnRequests(burst, room, polled, now);
    const auto headers = BANDWIDTH_REQUEST_HEADER * static_cast<std::uint32_t>(burst.headers.size());
    for (auto& placed : burst.pdus)
    {
        placed.offset += headers;
    }
    return burst;
}

std::uint32_t Subscriber::SpendOnData(
    UplinkBurst& burst, std::size_t index, std::uint32_t most, bool mayAsk, ns3::Time now)
{
    auto& flow = m_flows[index];
    const bool piggyback = mayAsk && WantsPiggyback(flow, most);
    auto subheader = piggyback ? GRANT_MANAGEMENT_SUBHEADER : 0;
    const auto first = burst.pdus.size();
    auto offset = first == 0 ? 0 : burst.pdus.back().offset + burst.pdus.back().pdu.bytes;
    std::uint32_t spent = 0;
    for (auto& pdu : flow.connection.Take(most - subheader, now))
    {
        pdu.bytes += std::exchange(subheader, 0);
        const auto bytes = pdu.bytes;
        burst.pdus.push_back({std::move(pdu), index, offset, std::nullopt});
        offset += bytes;
        spent += bytes;
    }
    if (!piggyback || spent == 0)
    {
        return spent;
    }
    if (const auto size = std::exchange(flow.newSize, std::nullopt))
    {
        burst.pdus[first].piggyback = BandwidthRequest{index, *size, RequestKind::Size};
        ++flow.requests;
    }
    else
    {
        burst.pdus[first].piggyback = Ask(index, RequestKind::Incremental, now);
    }
    return spent;
}

bool Subscriber::WantsPiggyback(const Flow& flow, std::uint32_t room)
{
    if (room <= GRANT_MANAGEMENT_SUBHEADER)
    {
        return false;
    }
    if (flow.IsUnsolicited())
    {
        return flow.newSize.has_value();
    }
    // More stays behind than the base station knows of.
    const auto needed = flow.connection.AirBytes();
    return needed > room && needed - room > flow.requested + flow.promised;
}

void Subscriber::SpendOnRequests(UplinkBurst& burst,
                                 std::uint32_t room,
                                 const std::vector<bool>& polled,
                                 ns3::Time now)
{
    for (const auto index : m_order)
    {
        auto& flow = m_flows[index];
        const bool hasRoom = polled[index] || room >= BANDWIDTH_REQUEST_HEADER;
        if (flow.IsUnsolicited())
        {
            if (!flow.newSize || !hasRoom)
            {
                continue;
            }
            burst.headers.push_back({index, *std::exchange(flow.newSize, std::nullopt), RequestKind::Size});
            ++flow.requests;
        }
        // A poll is answered with an aggregate request, which also repairs one that was lost. What is left of a
        // grant may carry a request of any connection (6.3.6.1).
        else if (polled[index] ? flow.connection.AirBytes() > flow.promised
                               : hasRoom && flow.Unrequested() > 0)
        {
            burst.headers.push_back(Ask(index, RequestKind::Aggregate, now));
        }
        else
        {
            continue;
        }
        room -= polled[index] ? 0 : BANDWIDTH_REQUEST_HEADER;
    }
}

} // namespace netboxit::wimax
