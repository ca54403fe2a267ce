// SPDX-License-Identifier: GPL-2.0-or-later
#include "subscriber.h"

#include <algorithm>
#include <numeric>

namespace netboxit::wimax
{

namespace
{

/// Contention request retries before the SDU is discarded (10.1).
constexpr std::uint32_t REQUEST_RETRIES = 16;

/// Random streams, two for each station, after those of the cell itself.
constexpr std::int64_t FIRST_STREAM = 16;

ns3::Ptr<ns3::UniformRandomVariable> Stream(StationId station, int which)
{
    auto random = ns3::CreateObject<ns3::UniformRandomVariable>();
    random->SetStream(FIRST_STREAM + 2 * station + which);
    return random;
}

} // namespace

std::uint32_t Subscriber::Flow::Unrequested() const
{
    const auto known = requested + promised;
    const auto needed = connection.AirBytes();
    return needed > known ? needed - known : 0;
}

Subscriber::Subscriber(StationId id,
                       const FlowTable& flows,
                       const Configuration& configuration,
                       Accounts& accounts)
    : m_id(id), m_byClass(flows.byClass), m_contention(configuration.contention), m_entry(Stream(id, 0)),
      m_backoff(configuration.contention.backoffStart, configuration.contention.backoffEnd, Stream(id, 1))
{
    for (const auto& flow : flows.flows)
    {
        m_flows.push_back(Flow{Connection(flow, accounts), 0, 0, ns3::Time(0), false, 0});
    }
    m_order.resize(m_flows.size());
    std::iota(m_order.begin(), m_order.end(), 0);
    std::stable_sort(
        m_order.begin(),
        m_order.end(),
        [this](std::size_t one, std::size_t other)
        { return m_flows[one].connection.Flow().scheduling < m_flows[other].connection.Flow().scheduling; });
}

void Subscriber::Enqueue(std::shared_ptr<Sdu> sdu)
{
    m_flows[m_byClass.at(sdu->frame.trafficClass)].connection.Enqueue(std::move(sdu));
}

void Subscriber::HearGrant(const UplinkGrant& grant, ns3::Time now)
{
    for (const auto& share : grant.shares)
    {
        auto& flow = m_flows[share.flow];
        flow.promised += share.bytes;
        flow.requested -= std::min(flow.requested, share.bytes);
        flow.answerBy = now + m_contention.requestTimeout;
        if (m_contender == share.flow && share.bytes > 0)
        {
            m_backoff.Reset();
            m_contender.reset();
        }
    }
}

void Subscriber::CheckTimeouts(ns3::Time now)
{
    for (std::size_t index = 0; index < m_flows.size(); ++index)
    {
        auto& flow = m_flows[index];
        if (flow.requested == 0 || now < flow.answerBy)
        {
            continue;
        }
        flow.requested = 0;
        if (!flow.contended)
        {
            continue;
        }
        flow.contended = false;
        m_backoff.Fail();
        m_contender.reset();
        if (m_backoff.Failures() > REQUEST_RETRIES)
        {
            flow.connection.DropHead(Loss::RetryLimit);
            m_backoff.Reset();
        }
    }
}

std::optional<std::pair<std::uint32_t, BandwidthRequest>> Subscriber::Contend(std::uint32_t opportunities,
                                                                              ns3::Time now)
{
    CheckTimeouts(now);
    if (m_contender && m_flows[*m_contender].requested > 0)
    {
        return std::nullopt; // waits for the answer
    }
    // UGS must not ask, and rtPS only when polled (6.3.5.2.1, 6.3.5.2.2).
    const auto needy = std::find_if(m_order.begin(),
                                    m_order.end(),
                                    [this](std::size_t index)
                                    {
                                        const auto& flow = m_flows[index];
                                        return flow.connection.Flow().scheduling >= Scheduling::NrtPs &&
                                               flow.requested == 0 && flow.Unrequested() > 0;
                                    });
    if (needy == m_order.end())
    {
        return std::nullopt;
    }
    const auto opportunity = m_backoff.Next(opportunities);
    if (!opportunity)
    {
        return std::nullopt;
    }
    m_contender = *needy;
    m_flows[*needy].contended = true;
    return std::pair(*opportunity, Ask(*needy, false, now));
}

BandwidthRequest Subscriber::Ask(std::size_t index, bool incremental, ns3::Time now)
{
    auto& flow = m_flows[index];
    const auto needed = flow.connection.AirBytes();
    const auto bytes = incremental ? flow.Unrequested() : needed - std::min(needed, flow.promised);
    flow.requested = incremental ? flow.requested + bytes : bytes;
    flow.answerBy = now + m_contention.requestTimeout;
    ++flow.requests;
    return {index, bytes, incremental};
}

UplinkBurst Subscriber::Transmit(const UplinkGrant& grant, ns3::Time now)
{
    std::vector<bool> polled(m_flows.size(), false);
    std::uint32_t kept = 0;
    for (const auto& share : grant.shares)
    {
        auto& flow = m_flows[share.flow];
        flow.promised -= std::min(flow.promised, share.bytes);
        polled[share.flow] = share.poll;
        kept += share.poll ? BANDWIDTH_REQUEST_HEADER : 0;
    }
    auto room = BurstBytes(grant.profile, grant.symbols);
    room -= std::min(room, kept);
    UplinkBurst burst;
    SpendOnData(burst, room, polled, now);

    for (const auto index : m_order)
    {
        auto& flow = m_flows[index];
        if (polled[index])
        {
            // A poll is answered with an aggregate request, which also repairs one that was lost.
            if (flow.connection.AirBytes() > flow.promised)
            {
                burst.headers.push_back(Ask(index, false, now));
                flow.contended = false;
            }
        }
        else if (flow.connection.Flow().scheduling != Scheduling::Ugs && flow.Unrequested() > 0 &&
                 room >= BANDWIDTH_REQUEST_HEADER)
        {
            // What is left of a grant may carry a request of any connection (6.3.6.1).
            burst.headers.push_back(Ask(index, false, now));
            flow.contended = false;
            room -= BANDWIDTH_REQUEST_HEADER;
        }
    }
    const auto headers = BANDWIDTH_REQUEST_HEADER * static_cast<std::uint32_t>(burst.headers.size());
    for (auto& placed : burst.pdus)
    {
        placed.offset += headers;
    }
    return burst;
}

void Subscriber::SpendOnData(UplinkBurst& burst,
                             std::uint32_t& room,
                             const std::vector<bool>& polled,
                             ns3::Time now)
{
    std::uint32_t offset = 0;
    for (const auto index : m_order)
    {
        auto& flow = m_flows[index];
        flow.connection.DropExpired(now);
        const auto needed = flow.connection.AirBytes();
        const bool mayAsk = flow.connection.Flow().scheduling != Scheduling::Ugs && !polled[index];
        // More stays behind than the base station knows of: leave room to say so in the first PDU.
        const bool piggyback = mayAsk && needed > room && needed - room > flow.requested + flow.promised &&
                               room > GRANT_MANAGEMENT_SUBHEADER;
        const auto subheader = piggyback ? GRANT_MANAGEMENT_SUBHEADER : 0;
        auto pdus = flow.connection.Take(room - subheader);
        const auto first = burst.pdus.size();
        for (auto& pdu : pdus)
        {
            pdu.bytes += burst.pdus.size() == first ? subheader : 0;
            room -= pdu.bytes;
            const auto bytes = pdu.bytes;
            burst.pdus.push_back({std::move(pdu), index, offset, 0});
            offset += bytes;
        }
        if (piggyback && burst.pdus.size() > first)
        {
            burst.pdus[first].piggyback = Ask(index, true, now).bytes;
            flow.contended = false;
        }
    }
}

void Subscriber::Abandon()
{
    for (auto& flow : m_flows)
    {
        flow.connection.DropAll(Loss::Outage);
        flow.requested = 0;
        flow.promised = 0;
    }
    m_backoff.Reset();
    m_contender.reset();
}

std::uint32_t Subscriber::QueuedBytes() const
{
    return std::accumulate(m_flows.begin(),
                           m_flows.end(),
                           0U,
                           [](std::uint32_t sum, const Flow& flow)
                           { return sum + flow.connection.QueuedBytes(); });
}

Json Subscriber::ReadFlows() const
{
    Json flows = Json::array();
    for (const auto& flow : m_flows)
    {
        const auto& parameters = flow.connection.Flow();
        flows.push_back({{"class", parameters.name},
                         {"scheduling", SCHEDULING_NAMES[static_cast<std::size_t>(parameters.scheduling)]},
                         {"queued_bytes", flow.connection.QueuedBytes()},
                         {"requests", flow.requests}});
    }
    return flows;
}

} // namespace netboxit::wimax
