// SPDX-License-Identifier: GPL-2.0-or-later
#include "bearer_queues.h"

#include "carrier_managers.h"
#include "make_bearer_discipline.h"

#include "ns3/lte-amc.h"
#include "ns3/lte-enb-rrc.h"
#include "ns3/lte-pdcp.h"
#include "ns3/lte-radio-bearer-info.h"
#include "ns3/lte-ue-rrc.h"

#include <algorithm>

namespace netboxit
{

namespace
{

/// ns-3 gives data radio bearer n the logical channel n + 2, and tells the one at a UE and the other at an eNodeB.
constexpr int FIRST_CHANNEL = 2;
/// The default bearer, after which the others follow in their order.
constexpr int DEFAULT_BEARER = 1;
constexpr int BEARERS = 8; ///< of a UE, at most
/// Random streams, one for each bearer and direction.
constexpr std::int64_t QUEUE_STREAM = 950'000;
constexpr int BEST_SCHEME = 28; ///< modulation and coding (TS 36.213, Table 7.1.7.1-1)

/// The data radio bearers of an RRC entity, or of an eNodeB's context of a UE.
ns3::ObjectMapValue BearersOf(const ns3::Object& owner)
{
    ns3::ObjectMapValue bearers;
    owner.GetAttribute("DataRadioBearerMap", bearers);
    return bearers;
}

template <typename Do>
void EachBearer(const ns3::ObjectMapValue& bearers, Do act)
{
    for (auto each = bearers.Begin(); each != bearers.End(); ++each)
    {
        if (const auto bearer = ns3::DynamicCast<ns3::LteDataRadioBearerInfo>(each->second))
        {
            act(*bearer);
        }
    }
}

} // namespace

BearerQueues::BearerQueues(const LtePlan& plan, const LteNetwork& network, Frames& frames, TrafficOf traffic, QualityOf quality)
    : m_plan(plan), m_network(network), m_frames(frames), m_traffic(std::move(traffic)), m_quality(std::move(quality)),
      m_grossRate(1e3 * ns3::CreateObject<ns3::LteAmc>()->GetDlTbSizeFromMcs(BEST_SCHEME, plan.resourceBlocks))
{
    Set(plan.queue);
    for (const auto& terminal : network.terminals)
    {
        if (terminal)
        {
            terminal->GetRrc()->TraceConnectWithoutContext("DrbCreated",
                                                           ns3::MakeCallback(&BearerQueues::BearerOfTerminal, this));
        }
    }
    for (const auto& enodeb : network.enodebs)
    {
        enodeb->GetRrc()->TraceConnectWithoutContext("NewUeContext",
                                                     ns3::MakeCallback(&BearerQueues::TerminalInCell, this));
    }
}

void BearerQueues::Set(const Json& said)
{
    queueing::CheckQueue(said, MakerForEnodeb({})); // also while there is no bearer
    m_said = said;
    EachQueue([&said](auto& queue) { queue.Set(said); });
}

void BearerQueues::ResetStatistics()
{
    EachQueue([](auto& queue) { queue.ResetStatistics(); });
}

template <typename Do>
void BearerQueues::EachQueue(Do act) const
{
    const auto actOnThoseOf = [&act](const ns3::Object& owner) {
        EachBearer(BearersOf(owner), [&act](const auto& bearer) {
            if (const auto queue = bearer.m_rlc->template GetObject<BearerQueue>())
            {
                act(*queue);
            }
        });
    };
    for (const auto& terminal : m_network.terminals)
    {
        if (terminal)
        {
            actOnThoseOf(*terminal->GetRrc());
        }
    }
    for (const auto& enodeb : m_network.enodebs)
    {
        ns3::ObjectMapValue contexts;
        enodeb->GetRrc()->GetAttribute("UeMap", contexts);
        for (auto each = contexts.Begin(); each != contexts.End(); ++each)
        {
            actOnThoseOf(*each->second);
        }
    }
}

Json BearerQueues::Read(StationId terminal) const
{
    const auto rrc = m_network.terminals[terminal]->GetRrc();
    const auto cell = m_network.IndexOf(rrc->GetCellId());
    const auto serving = cell ? m_network.enodebs[*cell]->GetRrc() : nullptr;
    const auto rnti = rrc->GetRnti();
    const bool known = serving && serving->HasUeManager(rnti) &&
                       serving->GetUeManager(rnti)->GetImsi() == m_network.terminals[terminal]->GetImsi();
    return {{"queue_uplink", ReadEach(*rrc, terminal)},
            {"queue_downlink", known ? ReadEach(*serving->GetUeManager(rnti), terminal) : Json::object()}};
}

Json BearerQueues::ReadEach(const ns3::Object& owner, StationId terminal) const
{
    Json queues = Json::object();
    EachBearer(BearersOf(owner), [&](const auto& bearer) {
        const auto queue = bearer.m_rlc->template GetObject<BearerQueue>();
        const auto index = static_cast<std::size_t>(bearer.m_drbIdentity - DEFAULT_BEARER);
        const auto& dedicated = m_plan.stations[terminal].bearers;
        if (queue && index <= dedicated.size())
        {
            queues[index == 0 ? "default" : dedicated[index - 1].className] = queue->Read();
        }
    });
    return queues;
}

void BearerQueues::BearerOfTerminal(std::uint64_t imsi, std::uint16_t, std::uint16_t, std::uint8_t identity)
{
    const auto id = StationOf(imsi);
    const auto& device = m_network.terminals[id];
    const auto manager = ns3::DynamicCast<TerminalCarrierManager>(device->GetComponentCarrierManager());
    manager->Substitute(Make(BearersOf(*device->GetRrc()), identity, id, true, *manager->GetLteMacSapProvider()));
}

void BearerQueues::TerminalInCell(std::uint16_t cell, std::uint16_t rnti)
{
    m_network.enodebs[m_network.IndexOf(cell).value()]->GetRrc()->GetUeManager(rnti)->TraceConnectWithoutContext(
        "DrbCreated", ns3::MakeCallback(&BearerQueues::BearerInCell, this));
}

void BearerQueues::BearerInCell(std::uint64_t imsi, std::uint16_t cell, std::uint16_t rnti, std::uint8_t channel)
{
    const auto& device = m_network.enodebs[m_network.IndexOf(cell).value()];
    const auto manager = ns3::DynamicCast<EnodebCarrierManager>(device->GetComponentCarrierManager());
    manager->Substitute(Make(BearersOf(*device->GetRrc()->GetUeManager(rnti)),
                             channel - FIRST_CHANNEL,
                             StationOf(imsi),
                             false,
                             *manager->GetLteMacSapProvider()));
}

BearerQueue& BearerQueues::Make(const ns3::ObjectMapValue& bearers,
                                int identity,
                                StationId terminal,
                                bool uplink,
                                ns3::LteMacSapProvider& mac)
{
    const BearerQueue::Place place{.number = ++m_latest,
                                   .uplink = uplink,
                                   .grossRate = m_grossRate * (!uplink && m_plan.transmissionMode == 2 ? 2.0 : 1.0),
                                   .traffic = m_traffic(terminal),
                                   .frames = m_frames,
                                   .quality = [this, terminal] { return m_quality(terminal); }};
    const auto stream = QUEUE_STREAM + (2 * std::int64_t{terminal} + uplink) * BEARERS + identity - DEFAULT_BEARER;
    ns3::Ptr<BearerQueue> queue;
    EachBearer(bearers, [&](const auto& bearer) {
        if (bearer.m_drbIdentity == identity)
        {
            queue = ns3::CreateObject<BearerQueue>(
                *bearer.m_rlc, mac, place, m_said, [this, stream] { return Draw(stream); });
            bearer.m_rlc->AggregateObject(queue);
            bearer.m_pdcp->SetLteRlcSapProvider(ns3::PeekPointer(queue));
        }
    });
    return *queue;
}

StationId BearerQueues::StationOf(std::uint64_t imsi) const
{
    const auto found = std::ranges::find_if(
        m_network.terminals, [imsi](const auto& device) { return device && device->GetImsi() == imsi; });
    return static_cast<StationId>(found - m_network.terminals.begin());
}

double BearerQueues::Draw(std::int64_t stream)
{
    // ns-3 numbers a random variable when it is made: only where one is drawn from, so that other numbers stay as they are.
    const auto [found, isNew] = m_chances.try_emplace(stream);
    if (isNew)
    {
        found->second = m_laterChances.Of(stream);
    }
    return found->second();
}

} // namespace netboxit
