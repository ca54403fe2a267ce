// SPDX-License-Identifier: GPL-2.0-or-later
#include "bearer_queue.h"

#include "make_bearer_discipline.h"

#include "ns3/lte-rlc-am-header.h"
#include "ns3/lte-rlc-am.h"
#include "ns3/lte-rlc-header.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <utility>

namespace netboxit
{

namespace
{

/// Of RLC's PDUs, the fixed part (TS 36.322, 6.2.1.3 with 10-bit sequence numbers, and 6.2.1.4 as ns-3 has it), bytes.
constexpr std::uint32_t UNACKNOWLEDGED_HEADER = 2;
constexpr std::uint32_t ACKNOWLEDGED_HEADER = 4;
/// What ns-3's unacknowledged mode estimates for the header of each packet that waits, bytes.
constexpr std::uint32_t HEADER_ESTIMATE = 2;
constexpr std::uint16_t SEQUENCE_NUMBERS = 1024;

std::int64_t Now()
{
    return ns3::Simulator::Now().GetNanoSeconds();
}

} // namespace

ns3::TypeId BearerQueue::GetTypeId()
{
    static const auto id = ns3::TypeId("netboxit::BearerQueue").SetParent<ns3::Object>();
    return id;
}

BearerQueue::BearerQueue(ns3::LteRlc& rlc,
                         ns3::LteMacSapProvider& mac,
                         const Place& place,
                         const Json& said,
                         queueing::Chance chance)
    : m_place(place), m_queue(said,
                              std::move(chance),
                              [this](const Outgoing& outgoing, Loss reason) {
                                  m_dropped = true;
                                  if (outgoing.carried)
                                  {
                                      m_place.traffic.Dropped(*outgoing.carried, m_place.uplink, reason);
                                  }
                              },
                              [this](const Outgoing& outgoing) { return outgoing.carried && Mark(*outgoing.carried); },
                              MakerOfDisciplines()),
      m_acknowledged(rlc.GetObject<ns3::LteRlcAm>() != nullptr), m_rlc(*rlc.GetLteRlcSapProvider()),
      m_rlcBelow(*rlc.GetLteMacSapUser()), m_mac(mac), m_rate(place.grossRate)
{
    ResetStatistics();
    rlc.SetLteMacSapProvider(this);
    if (m_acknowledged)
    {
        ns3::TimeValue interval;
        rlc.GetAttribute("ReportBufferStatusTimer", interval);
        m_interval = interval.Get();
    }
}

bool BearerQueue::Mark(const CarrierPacket& packet)
{
    // A frame has several copies in the downlink: one in the bearers of each UE.
    const auto station = m_place.uplink ? std::nullopt : std::optional(m_place.traffic.Station());
    return m_place.frames.MarkCongestion(packet.slot, station);
}

queueing::Maker BearerQueue::MakerOfDisciplines()
{
    if (m_place.uplink)
    {
        return MakerForTerminal();
    }
    return MakerForEnodeb({.quality = m_place.quality,
                           .head = [this] { return m_inRlc.empty() ? std::nullopt : std::optional(m_inRlc.front()); }});
}

void BearerQueue::Set(const Json& said)
{
    m_queue.Set(said, Now(), m_rate.Rate());
    ReportDrops();
}

Json BearerQueue::Read() const
{
    return m_queue.Read(Now());
}

void BearerQueue::ResetStatistics()
{
    m_queue.ResetStatistics(Now());
}

void BearerQueue::TransmitPdcpPdu(TransmitPdcpPduParameters parameters)
{
    const auto now = Now();
    const auto carried = CarrierPacket::Read(parameters.pdcpPdu, PDCP_HEADER);
    queueing::Entry entry{.bytes = parameters.pdcpPdu->GetSize(), .trafficClass = {}, .frame = {}};
    if (carried)
    {
        m_place.traffic.Queued(*carried, m_place.uplink, m_place.number);
        entry.trafficClass = carried->trafficClass;
        entry.frame = m_place.frames.Read(carried->slot);
    }
    m_queue.Enqueue({parameters, carried, now}, entry, now, m_rate.Rate());
    if (!Fill(0))
    {
        Ask();
    }
    m_dropped = false;
    if (m_acknowledged)
    {
        m_reminder.Cancel();
        m_reminder = ns3::Simulator::Schedule(m_interval, &BearerQueue::Remind, this);
    }
}

void BearerQueue::NotifyTxOpportunity(TxOpportunityParameters opportunity)
{
    const auto header = m_acknowledged ? ACKNOWLEDGED_HEADER : UNACKNOWLEDGED_HEADER;
    m_rate.Serves(opportunity.bytes, Now());
    m_isQuiet = true;
    m_queue.Have<BearerDiscipline>([](auto& discipline) { discipline.Sends(Now()); }, Now());
    Fill(opportunity.bytes - std::min(opportunity.bytes, header));
    m_isQuiet = false;
    m_rlcBelow.NotifyTxOpportunity(opportunity);
    m_rate.Leaves(m_bytesInRlc);
    ReportDrops();
}

void BearerQueue::NotifyHarqDeliveryFailure()
{
    m_rlcBelow.NotifyHarqDeliveryFailure();
}

void BearerQueue::ReceivePdu(ReceivePduParameters parameters)
{
    m_rlcBelow.ReceivePdu(parameters);
}

void BearerQueue::TransmitPdu(TransmitPduParameters parameters)
{
    auto bytes = NewBytes(*parameters.pdu);
    while (bytes > 0 && !m_inRlc.empty())
    {
        auto& first = m_inRlc.front();
        const auto sent = std::min(first.bytes, bytes);
        first.bytes -= sent;
        bytes -= sent;
        m_bytesInRlc -= sent;
        if (first.bytes == 0)
        {
            m_queue.Have<BearerDiscipline>([&first](auto& discipline) { discipline.Left(first.since, Now()); }, Now());
            m_inRlc.pop_front();
        }
    }
    m_mac.TransmitPdu(parameters);
}

void BearerQueue::ReportBufferStatus(ReportBufferStatusParameters report)
{
    m_report = report;
    if (!m_isQuiet)
    {
        Report();
    }
}

bool BearerQueue::Fill(std::uint32_t bytes)
{
    bool any = false;
    while (m_bytesInRlc <= bytes)
    {
        const auto next = m_queue.Dequeue(Now());
        if (!next)
        {
            break;
        }
        if (next->carried)
        {
            m_place.traffic.Passed(*next->carried, m_place.uplink);
        }
        const auto size = next->unit.pdcpPdu->GetSize();
        m_inRlc.push_back({size, next->since});
        m_bytesInRlc += size;
        m_rlc.TransmitPdcpPdu(next->unit);
        any = true;
    }
    return any;
}

std::uint32_t BearerQueue::NewBytes(const ns3::Packet& pdu)
{
    if (!m_acknowledged)
    {
        ns3::LteRlcHeader header;
        pdu.PeekHeader(header);
        return pdu.GetSize() - header.GetSerializedSize();
    }
    ns3::LteRlcAmHeader header;
    pdu.PeekHeader(header);
    if (header.IsControlPdu() || header.GetSequenceNumber().GetValue() != m_nextNumber)
    {
        return 0;
    }
    m_nextNumber = (m_nextNumber + 1) % SEQUENCE_NUMBERS;
    return pdu.GetSize() - header.GetSerializedSize();
}

void BearerQueue::Report()
{
    auto report = m_report;
    report.txQueueSize = m_bytesInRlc + static_cast<std::uint32_t>(m_queue.Bytes());
    if (!m_acknowledged)
    {
        report.txQueueSize += static_cast<std::uint32_t>(HEADER_ESTIMATE * (m_inRlc.size() + m_queue.Packets()));
    }
    // Whatever waits here, something waits in RLC as well.
    report.txQueueHolDelay =
        m_inRlc.empty() ? 0 : static_cast<std::uint16_t>((Now() - m_inRlc.front().since) / 1'000'000);
    m_mac.ReportBufferStatus(report);
}

void BearerQueue::Ask()
{
    // Acknowledged mode says nothing where it would say 0.
    m_report.retxQueueSize = 0;
    m_report.statusPduSize = 0;
    // RLC does so also with a packet that it refuses.
    m_rlc.TransmitPdcpPdu({ns3::Create<ns3::Packet>(RLC_ROOM + 1), m_report.rnti, m_report.lcid});
}

void BearerQueue::Look()
{
    m_isQuiet = true;
    Ask();
    m_isQuiet = false;
}

void BearerQueue::Remind()
{
    // RLC's own timer counts from the latest packet that it got, which may be much later than the latest that came here.
    Look();
    if (m_bytesInRlc > 0 || m_report.retxQueueSize > 0)
    {
        Report();
        m_reminder = ns3::Simulator::Schedule(m_interval, &BearerQueue::Remind, this);
    }
}

void BearerQueue::ReportDrops()
{
    // After MAC has counted what it gave the bearer in this subframe.
    if (std::exchange(m_dropped, false))
    {
        m_correction.Cancel();
        m_correction = ns3::Simulator::ScheduleNow(&BearerQueue::Correct, this);
    }
}

void BearerQueue::Correct()
{
    Look();
    Report();
}

void BearerQueue::DoDispose()
{
    m_correction.Cancel();
    m_reminder.Cancel();
    ns3::Object::DoDispose();
}

} // namespace netboxit
