// SPDX-License-Identifier: GPL-2.0-or-later
#include "station.h"

#include "../queueing/chance.h"

#include "ns3/lr-wpan-mac-header.h"
#include "ns3/lr-wpan-phy.h"
#include "ns3/simulator.h"

namespace netboxit
{

namespace
{

/// Random streams of the queues, one a station, up to 200. Those of radio.cc end at 5200 and go on at 6000.
constexpr std::int64_t FIRST_QUEUE_STREAM = 5500;
/// What a radio sends with (IEEE 802.15.4-2006, 6.5.1), bit/s.
constexpr double RATE = 250e3;
/// After the end of a frame, so that also a receiver 100 km away has it; shorter than the next frame takes.
const ns3::Time SETTLED = ns3::MicroSeconds(500);
/// Of a frame: preamble 4, start of frame delimiter 1, length 1; 32 us a byte (IEEE 802.15.4-2006, 6.3 and 6.5.1).
constexpr std::uint32_t PHY_HEADERS = 6;
constexpr double BYTE_TIME = 32e-6;
/// A frame of nothing but MAC header and FCS, without addresses: an acknowledgement (7.2.2.3).
constexpr std::uint32_t ACKNOWLEDGEMENT = 5;

/// Simulated time, ns.
std::int64_t Now()
{
    return ns3::Simulator::Now().GetNanoSeconds();
}

} // namespace

Station::Station(StationId id, const SegmentSetup& setup, Radio& radio, const StationEvents& events)
    : m_id(id), m_frames(setup.frames), m_radio(radio), m_events(events), m_fragmentation(radio.PayloadRoom()),
      m_acknowledged(setup.parameters.at("acknowledgements")),
      m_extended(setup.parameters.at("addressing") == "extended"),
      m_reassemblyTimeout(ns3::Seconds(setup.parameters.at("reassembly_timeout").get<double>())),
      m_queue(setup.parameters.at("queue"),
              queueing::ChanceOf(FIRST_QUEUE_STREAM + id),
              [this](const Outgoing& outgoing, Loss reason) { m_events.dropped(m_id, outgoing.datagram, reason); },
              [this](const Outgoing& outgoing)
              { return m_frames.MarkCongestion(outgoing.datagram.slot, outgoing.datagram.destination); },
              queueing::MakerOf(),
              queueing::Asks::WhenDue),
      m_incoming(setup.stations.size())
{
    const auto& device = m_radio.Device(m_id);
    device->GetMac()->SetMcpsDataConfirmCallback(ns3::MakeCallback(&Station::Confirmed, this));
    device->GetMac()->SetMcpsDataIndicationCallback(ns3::MakeCallback(&Station::Received, this));
    device->GetPhy()->TraceConnectWithoutContext("PhyTxBegin",
                                                 ns3::MakeCallback(&Station::TransmissionBegins, this));
}

Station::~Station()
{
    m_sendsNext.Cancel();
    const auto& device = m_radio.Device(m_id);
    // ns-3 may have disposed of the device already.
    if (const auto mac = device->GetMac())
    {
        mac->SetMcpsDataConfirmCallback({});
        mac->SetMcpsDataIndicationCallback({});
    }
    if (const auto phy = device->GetPhy())
    {
        phy->TraceDisconnectWithoutContext("PhyTxBegin", ns3::MakeCallback(&Station::TransmissionBegins, this));
    }
}

void Station::Send(const Datagram& datagram, std::optional<StationId> hop)
{
    m_queue.Enqueue({datagram, hop},
                    {datagram.length, datagram.trafficClass, m_frames.Read(datagram.slot)},
                    Now(),
                    RATE);
    if (!m_sending)
    {
        SendNext();
    }
}

void Station::SetQueue(const Json& value)
{
    m_queue.Set(value, Now(), RATE);
    if (m_sendsNext.IsPending())
    {
        SendNext(); // a queue that had a rate of its own may be due sooner
    }
}

void Station::SendNext()
{
    m_sendsNext.Cancel();
    if (!m_queue.IsEmpty() && Now() < m_queue.Due())
    {
        m_sending.reset();
        m_sendsNext = ns3::Simulator::Schedule(ns3::NanoSeconds(m_queue.Due() - Now()), &Station::SendNext, this);
        return;
    }
    m_sending = m_queue.Dequeue(Now());
    if (m_sending)
    {
        ++m_number;
        m_offset = 0;
        SendFragment();
    }
}

void Station::SendFragment()
{
    const auto& [datagram, hop] = *m_sending;
    const auto part = m_fragmentation.Part(datagram.length, m_offset);
    auto packet = ns3::Create<ns3::Packet>(m_fragmentation.Payload(datagram.length, m_offset));
    packet->AddPacketTag(FragmentTag({.datagram = datagram,
                                      .sender = m_id,
                                      .number = m_number,
                                      .offset = static_cast<std::uint16_t>(m_offset),
                                      .part = static_cast<std::uint16_t>(part)}));
    ns3::lrwpan::McpsDataRequestParams request;
    const auto mac = m_radio.Device(m_id)->GetMac();
    request.m_dstPanId = mac->GetPanId();
    request.m_srcAddrMode = m_extended ? ns3::lrwpan::EXT_ADDR : ns3::lrwpan::SHORT_ADDR;
    // A broadcast has a short address always (IEEE 802.15.4-2006, 7.5.6.2).
    request.m_dstAddrMode = m_extended && hop ? ns3::lrwpan::EXT_ADDR : ns3::lrwpan::SHORT_ADDR;
    request.m_dstAddr =
        hop ? ns3::Mac16Address(static_cast<std::uint16_t>(*hop + 1)) : ns3::Mac16Address("ff:ff");
    request.m_dstExtAddr = ns3::Mac64Address(static_cast<std::uint64_t>(hop ? *hop + 1 : 0));
    request.m_txOptions = hop && m_acknowledged ? ns3::lrwpan::TX_OPTION_ACK : ns3::lrwpan::TX_OPTION_NONE;
    m_attempts = 0;
    mac->McpsDataRequest(request, packet);
}

/// The MAC is through with a fragment. It still removes it from its own queue after this call, so the next one has to wait for an
/// event of its own.
void Station::Confirmed(ns3::lrwpan::McpsDataConfirmParams params)
{
    using ns3::lrwpan::MacStatus;
    const bool sent = params.m_status == MacStatus::SUCCESS;
    const auto& outgoing = *m_sending;
    m_offset += m_fragmentation.Part(outgoing.datagram.length, m_offset);
    if (sent && m_offset < outgoing.datagram.length)
    {
        ns3::Simulator::ScheduleNow(&Station::SendFragment, this);
        return;
    }
    m_noAcknowledgement += params.m_status == MacStatus::NO_ACK;
    m_channelAccessFailures += params.m_status == MacStatus::CHANNEL_ACCESS_FAILURE;
    const auto end = sent                                        ? HopEnd::Sent
                     : params.m_status == MacStatus::NO_ACK ? HopEnd::NoAck
                                                                 : HopEnd::NoChannel;
    ns3::Simulator::Schedule(SETTLED, &Station::Settle, this, outgoing, m_number, end);
    ns3::Simulator::ScheduleNow(&Station::SendNext, this);
}

void Station::Settle(Outgoing outgoing, std::uint16_t number, HopEnd end)
{
    m_events.ended(m_id, outgoing.datagram, outgoing.hop, number, end);
}

void Station::Received(ns3::lrwpan::McpsDataIndicationParams params, ns3::Ptr<ns3::Packet> packet)
{
    FragmentTag tag;
    if (!packet->PeekPacketTag(tag))
    {
        return;
    }
    const auto& fragment = tag.Carried();
    m_lastHeard = fragment.sender;
    m_lastLqi = params.m_mpduLinkQuality;
    ++m_fragmentsReceived;
    auto& incoming = m_incoming.at(fragment.sender);
    if (incoming.number != fragment.number)
    {
        CountAbandoned(incoming);
        incoming = {.number = fragment.number, .received = 0, .began = ns3::Simulator::Now()};
    }
    incoming.late = incoming.late || ns3::Simulator::Now() - incoming.began > m_reassemblyTimeout;
    // A repetition of what is here already: its acknowledgement was lost. Or one that was lost before it leaves a gap.
    if (incoming.late || incoming.complete || fragment.offset != incoming.received)
    {
        return;
    }
    incoming.received += fragment.part;
    if (fragment.IsLast())
    {
        incoming.complete = true;
        m_events.arrived(m_id, fragment.datagram);
    }
}

void Station::CountAbandoned(const Incoming& incoming)
{
    m_reassemblyFailures += incoming.number && !incoming.complete;
}

bool Station::HasCompleted(StationId sender, std::uint16_t number) const
{
    const auto& incoming = m_incoming.at(sender);
    return incoming.number == number && incoming.complete;
}

bool Station::HasTimedOut(StationId sender, std::uint16_t number) const
{
    const auto& incoming = m_incoming.at(sender);
    return incoming.number == number && incoming.late;
}

void Station::TransmissionBegins(ns3::Ptr<const ns3::Packet> packet)
{
    m_airtime += (PHY_HEADERS + packet->GetSize()) * BYTE_TIME;
    if (packet->GetSize() == ACKNOWLEDGEMENT)
    {
        return;
    }
    ++m_transmissions;
    m_retransmissions += m_attempts > 0;
    ++m_attempts;
}

Json Station::Read() const
{
    Json counters = {{"transmissions", m_transmissions},
                     {"retransmissions", m_retransmissions},
                     {"no_acknowledgement", m_noAcknowledgement},
                     {"channel_access_failures", m_channelAccessFailures},
                     {"fragments_received", m_fragmentsReceived},
                     {"reassembly_failures", m_reassemblyFailures},
                     {"airtime", m_airtime},
                     {"queue", m_queue.Read(Now())},
                     {"lost", m_lost.ReadOccurred()}};
    if (m_lastHeard)
    {
        const double signal = m_radio.Power(*m_lastHeard, m_id);
        counters["signal"] = signal;
        counters["snr"] = signal - m_radio.Noise();
        counters["lqi"] = m_lastLqi;
    }
    return counters;
}

void Station::Reset()
{
    m_transmissions = m_retransmissions = m_noAcknowledgement = m_channelAccessFailures = 0;
    m_fragmentsReceived = m_reassemblyFailures = 0;
    m_airtime = 0.0;
    m_lost = {};
    m_queue.ResetStatistics(Now());
}

} // namespace netboxit
