// SPDX-License-Identifier: GPL-2.0-or-later
#include "subscriber.h"

#include "scheduler.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace netboxit::wimax
{

namespace
{

/// Contention request retries before the SDU is discarded (10.1).
constexpr std::uint32_t REQUEST_RETRIES = 16;

/// Random streams, two for each station, after those of the cell itself.
constexpr std::int64_t FIRST_STREAM = 16;
/// Random streams of the queues, one for each connection.
constexpr std::int64_t FIRST_QUEUE_STREAM = std::int64_t{1} << 22;
constexpr std::int64_t QUEUE_STREAMS_OF_A_STATION = 1024;

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
                       const std::vector<std::string>& names,
                       Accounts& accounts)
    : m_id(id), m_byClass(flows.byClass), m_contention(configuration.contention),
      m_perConnection(configuration.perConnection),
      m_byShare(m_perConnection || SCHEDULER_NAMES[configuration.scheduler] != "strict"), m_entry(Stream(id, 0)),
      m_channel(names),
      m_backoff(configuration.contention.backoffStart, configuration.contention.backoffEnd, Stream(id, 1))
{
    m_channel.Add(configuration.base, m_uplink);
    for (const auto& flow : flows.flows)
    {
        const auto stream =
            FIRST_QUEUE_STREAM + QUEUE_STREAMS_OF_A_STATION * id + static_cast<std::int64_t>(m_flows.size());
        m_flows.push_back(Flow{Connection(flow, accounts, stream, &m_channel),
                               0,
                               0,
                               ns3::Time(0),
                               false,
                               0,
                               GrantSize(UnsolicitedBytes(flow, flow.maximumRate)),
                               std::nullopt});
    }
    m_order.resize(m_flows.size());
    std::iota(m_order.begin(), m_order.end(), 0);
    std::stable_sort(
        m_order.begin(),
        m_order.end(),
        [this](std::size_t one, std::size_t other)
        { return m_flows[one].connection.Flow().scheduling < m_flows[other].connection.Flow().scheduling; });
}

void Subscriber::Enqueue(const std::shared_ptr<Sdu>& sdu, Bytes frame, const FrameLayout& layout)
{
    m_flows[m_byClass.at(sdu->frame.trafficClass)].connection.Enqueue(sdu, frame, RateBps(layout));
}

void Subscriber::SetQueue(const Json& queue, const FrameLayout& layout, ns3::Time now)
{
    for (auto& flow : m_flows)
    {
        if (!flow.connection.Flow().hasOwnQueue)
        {
            flow.connection.SetQueue(queue, now, RateBps(layout));
        }
    }
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
        ++m_retries;
        m_contender.reset();
        if (m_backoff.Failures() > REQUEST_RETRIES)
        {
            flow.connection.DropHead(Loss::RetryLimit, now);
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
    // UGS must not ask, ertPS and rtPS only when granted or polled (6.3.5.2.1, 6.3.5.2.2).
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
    auto request = Ask(*needy, RequestKind::Aggregate, now);
    m_flows[*needy].contended = true;
    return std::pair(*opportunity, request);
}

BandwidthRequest Subscriber::Ask(std::size_t index, RequestKind kind, ns3::Time now)
{
    auto& flow = m_flows[index];
    const auto needed = flow.connection.AirBytes();
    const bool incremental = kind == RequestKind::Incremental;
    const auto bytes = incremental ? flow.Unrequested() : needed - std::min(needed, flow.promised);
    flow.requested = incremental ? flow.requested + bytes : bytes;
    flow.answerBy = now + m_contention.requestTimeout;
    flow.contended = false;
    ++flow.requests;
    return {index, bytes, kind};
}

void Subscriber::DropOversize(std::uint32_t largestBurst, ns3::Time now)
{
    for (auto& flow : m_flows)
    {
        flow.connection.DropOversize(largestBurst, now);
    }
}

void Subscriber::Abandon(ns3::Time now)
{
    for (auto& flow : m_flows)
    {
        flow.connection.DropAll(Loss::Outage, now);
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

std::uint64_t Subscriber::Requests() const
{
    return std::accumulate(m_flows.begin(),
                           m_flows.end(),
                           std::uint64_t{0},
                           [](std::uint64_t sum, const Flow& flow) { return sum + flow.requests; });
}

Json Subscriber::ReadFlows(ns3::Time now) const
{
    Json flows = Json::array();
    for (const auto& flow : m_flows)
    {
        const auto& parameters = flow.connection.Flow();
        flows.push_back({{"class", parameters.name},
                         {"scheduling", SCHEDULING_NAMES[static_cast<std::size_t>(parameters.scheduling)]},
                         {"queue", flow.connection.ReadQueue(now)},
                         {"requests", flow.requests}});
    }
    return flows;
}

void Subscriber::ResetStatistics(ns3::Time now)
{
    m_retries = m_polls = 0;
    for (auto& flow : m_flows)
    {
        flow.requests = 0;
        flow.connection.ResetQueueStatistics(now);
    }
}

} // namespace netboxit::wimax
