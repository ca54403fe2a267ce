// SPDX-License-Identifier: GPL-2.0-or-later
#include "shared.h"

#include "../queueing/chance.h"

#include "ns3/boolean.h"
#include "ns3/drop-tail-queue.h"
#include "ns3/ethernet-header.h"
#include "ns3/node.h"
#include "ns3/simulator.h"

#include <sstream>

namespace netboxit
{

namespace
{

using ns3::Mac48Address;
using ns3::Ptr;

/// Of an Ethernet frame's payload, bytes (IEEE 802.3-2018, 4A.4.2); ns-3 fills it up, too, but would do so before the preamble counts.
constexpr std::uint32_t SMALLEST_PAYLOAD = 46;
/// What ns-3's csma adds to a payload, bytes. It sends no preamble, so that is part of the payload here.
constexpr std::uint32_t HEADER_AND_CHECK = ETHERNET_HEADER + FRAME_CHECK_SEQUENCE;
constexpr std::uint16_t ANY_ETHER_TYPE = 0x0800;
constexpr std::int64_t FIRST_BACKOFF_STREAM = 7001;
/// Half duplex is without carrier extension up to here (4.2.3.4), bit/s.
constexpr double FASTEST = 100e6;
/// One way, in bit times: with it a collision would be noticed within a slot of 512 (4.4.2), there and back.
constexpr double LONGEST_DELAY = 256.0;

std::int64_t Now()
{
    return ns3::Simulator::Now().GetNanoSeconds();
}

/// ns-3's own address of a station's device, which nobody else sees.
Mac48Address AddressOf(StationId station)
{
    const std::array<std::uint8_t, 6> bytes{
        2, 0, 0, 0, static_cast<std::uint8_t>(station >> 8), static_cast<std::uint8_t>(station)};
    Mac48Address address;
    address.CopyFrom(bytes.data());
    return address;
}

StationId StationOf(const Mac48Address& address)
{
    std::array<std::uint8_t, 6> bytes;
    address.CopyTo(bytes.data());
    return static_cast<StationId>(bytes[4] << 8 | bytes[5]);
}

/// What a packet on the wire carries, and for whom.
struct OnWire
{
    SlotId slot;
    Mac48Address destination;

    explicit OnWire(const Ptr<const ns3::Packet>& packet)
    {
        auto copy = packet->Copy();
        ns3::EthernetHeader header(false);
        copy->RemoveHeader(header);
        slot = ReadToken(copy).value_or(SlotId{});
        destination = header.GetDestination();
    }

    bool IsFor(StationId station) const
    {
        return destination.IsBroadcast() || StationOf(destination) == station;
    }
};

} // namespace

Shared::Shared(const SegmentSetup& setup)
    : Medium(setup), m_frames(setup.frames), m_slot(512), m_ceiling(2), m_attempts(1000), m_stations(setup.stations.size())
{
    if (const auto& backoff = setup.parameters.at("backoff"); !backoff.is_null())
    {
        m_slot = backoff.at("slot");
        m_ceiling = backoff.at("ceiling");
        m_attempts = backoff.at("attempts");
    }
    for (StationId id = 0; id < Count(); ++id)
    {
        AddStation(id, setup.parameters);
    }
    Shared::ApplyRate(0);
    LookAtCuts();
}

Shared::~Shared()
{
    m_retune.Cancel();
    for (auto& station : m_stations)
    {
        station.sendsNext.Cancel();
    }
}

void Shared::AddStation(StationId id, const Json& parameters)
{
    auto& station = m_stations[id];
    station.queue = std::make_unique<queueing::Queue<Outgoing>>(
        parameters.at("queue"),
        queueing::ChanceOf(QUEUE_STREAMS + id),
        [this, id](const Outgoing& outgoing, Loss reason) { LoseAll(id, outgoing.frame.slot, reason); },
        [this](const Outgoing& outgoing) { return m_frames.MarkCongestion(outgoing.frame.slot, outgoing.to.station); },
        queueing::MakerOf(),
        queueing::Asks::WhenDue);
    auto& device = station.device;
    device = ns3::CreateObject<ns3::CsmaNetDevice>();
    device->SetAddress(AddressOf(id));
    const auto handover = ns3::CreateObject<ns3::DropTailQueue<ns3::Packet>>();
    handover->SetMaxSize(ns3::QueueSize(ns3::QueueSizeUnit::PACKETS, 1));
    device->SetQueue(handover);
    ns3::CreateObject<ns3::Node>()->AddDevice(device);
    device->AssignStreams(FIRST_BACKOFF_STREAM + id);
    device->SetReceiveCallback(
        [this, id](auto, Packet packet, auto, const ns3::Address& from)
        { return Receives(id, packet, StationOf(Mac48Address::ConvertFrom(from))); });
    const auto trace = [&](const char* source, void (Shared::*method)(StationId, Packet))
    {
        device->TraceConnectWithoutContext(
            source,
            ns3::Callback<void, Packet>([this, id, method](Packet packet) { (this->*method)(id, packet); }));
    };
    trace("PhyTxBegin", &Shared::Begins);
    trace("PhyTxEnd", &Shared::Ends);
    trace("PhyTxDrop", &Shared::GivesUp);
    device->TraceConnectWithoutContext(
        "MacTxBackoff", ns3::Callback<void, Packet>([this, id](Packet) { ++m_stations[id].backoffs; }));
}

void Shared::Transmit(StationId from, Destination to, const Frame& frame)
{
    if (At(from).cut)
    {
        LoseAll(from, frame.slot, Loss::Outage);
        return;
    }
    const Outgoing outgoing{frame, to};
    auto& station = m_stations[from];
    station.queue->Enqueue(outgoing, outgoing.EntryIn(*station.queue, m_frames), Now(), static_cast<double>(m_rate));
    if (station.isBusy)
    {
        return;
    }
    if (Now() < station.gapEndsAt)
    {
        SendAfterGap(from);
    }
    else
    {
        SendNext(from);
    }
}

void Shared::SendAfterGap(StationId sender)
{
    SendAt(sender, std::max(m_stations[sender].gapEndsAt, m_stations[sender].queue->Due()));
}

void Shared::SendAt(StationId sender, std::int64_t time)
{
    auto& station = m_stations[sender];
    station.isBusy = true;
    station.sendsNext = ns3::Simulator::Schedule(ns3::NanoSeconds(time - Now()), &Shared::SendNext, this, sender);
}

void Shared::SendNext(StationId sender)
{
    auto& station = m_stations[sender];
    if (!station.queue->IsEmpty() && Now() < station.queue->Due())
    {
        SendAt(sender, station.queue->Due());
        return;
    }
    const auto next = station.queue->Dequeue(Now());
    station.isBusy = next.has_value();
    if (!next)
    {
        return;
    }
    auto onWire = next->frame;
    onWire.length = std::max(onWire.length, SMALLEST_PAYLOAD) + PREAMBLE;
    const auto destination = next->to.station ? AddressOf(*next->to.station) : Mac48Address::GetBroadcast();
    station.device->Send(MakeToken(onWire), destination, ANY_ETHER_TYPE);
}

void Shared::Begins(StationId sender, Packet packet)
{
    auto& station = m_stations[sender];
    if (At(sender).cut)
    {
        return; // it waited when its wire was cut: the channel refuses it
    }
    station.sendingIsCut = false;
    ++station.sent;
    station.airtime += 8.0 * packet->GetSize() / static_cast<double>(m_rate);
}

void Shared::Ends(StationId sender, Packet packet)
{
    const OnWire what(packet);
    for (StationId id = 0; id < Count(); ++id)
    {
        if (id != sender && At(id).cut && what.IsFor(id))
        {
            Lose(sender, what.slot, id, Loss::Outage);
        }
    }
    // The device becomes ready when the gap ends, by an event of its own. Where no frame waits there is nothing else to be done then.
    auto& station = m_stations[sender];
    station.gapEndsAt = Now() + ns3::DataRate(m_rate).CalculateBytesTxTime(INTERFRAME_GAP).GetNanoSeconds();
    station.isBusy = false;
    if (!station.queue->IsEmpty())
    {
        SendAfterGap(sender);
    }
    if (m_retuning)
    {
        m_retune.Cancel();
        m_retune = ns3::Simulator::Schedule(m_channel->GetDelay(), &Shared::Retune, this);
    }
}

void Shared::GivesUp(StationId sender, Packet packet)
{
    LoseAll(sender, OnWire(packet).slot, At(sender).cut ? Loss::Outage : Loss::RetryLimit);
    // The device looks for the next one when this returns. When the wire is cut, none waits.
    SendNext(sender);
}

bool Shared::Receives(StationId receiver, Packet packet, StationId sender)
{
    const auto slot = ReadToken(packet);
    if (!slot)
    {
        return false;
    }
    if (At(receiver).cut || m_stations[sender].sendingIsCut)
    {
        Lose(sender, *slot, receiver, Loss::Outage);
    }
    else if (!Survives(packet->GetSize() + HEADER_AND_CHECK))
    {
        Lose(sender, *slot, receiver, Loss::OnAir);
    }
    else
    {
        m_fates.Deliver(*slot, receiver);
    }
    return true;
}

void Shared::Lose(StationId sender, SlotId slot, StationId receiver, Loss reason)
{
    ++At(sender).lost[reason];
    m_fates.Lose(slot, receiver, reason);
}

void Shared::LoseAll(StationId sender, SlotId slot, Loss reason)
{
    ++At(sender).lost[reason];
    m_fates.LoseAll(slot, reason);
}

void Shared::Retune()
{
    if (!m_retuning || (m_channel != nullptr && m_channel->IsBusy()))
    {
        return; // when it is busy, that ends
    }
    m_retuning = false;
    m_rate = At(0).rate;
    m_channel = ns3::CreateObject<ns3::CsmaChannel>();
    m_channel->SetAttribute("DataRate", ns3::DataRateValue(ns3::DataRate(m_rate)));
    m_channel->SetAttribute("Delay", ns3::TimeValue(ns3::NanoSeconds(At(0).delay)));
    const auto slot = ns3::Seconds(m_slot / static_cast<double>(m_rate));
    for (StationId id = 0; id < Count(); ++id)
    {
        const auto& device = m_stations[id].device;
        device->Attach(m_channel);
        device->SetBackoffParams(slot, 1, (1U << m_ceiling) - 1, m_ceiling, m_attempts);
        if (At(id).cut)
        {
            m_channel->Detach(device);
        }
    }
}

void Shared::ApplyRate(StationId station)
{
    if (station == 0) // there is one rate, and one delay
    {
        m_retuning = true;
        Retune();
    }
}

void Shared::ApplyDelay(StationId station)
{
    ApplyRate(station);
}

void Shared::ApplyCut(StationId station)
{
    auto& its = m_stations[station];
    if (!At(station).cut)
    {
        m_channel->Reattach(its.device);
        return;
    }
    m_channel->Detach(its.device);
    its.sendingIsCut = true;
    its.queue->Clear(Loss::Outage, Now());
}

void Shared::ApplyQueue(const Json& queue)
{
    for (StationId id = 0; id < Count(); ++id)
    {
        auto& station = m_stations[id];
        station.queue->Set(queue, Now(), static_cast<double>(m_rate));
        if (station.sendsNext.IsPending())
        {
            // A queue that had a rate of its own may be due sooner.
            station.sendsNext.Cancel();
            SendAt(id, std::max({Now(), station.gapEndsAt, station.queue->Due()}));
        }
    }
}

void Shared::Check(double rate, double delay) const
{
    if (rate > FASTEST || rate * delay > LONGEST_DELAY)
    {
        std::ostringstream message;
        message << "ethernet: a shared medium cannot have " << rate << " bit/s with a delay of " << delay
                << " s; it has up to 1e+08 bit/s and 256 bit times (IEEE 802.3-2018, 4.4.2)";
        throw OutOfRange(message.str());
    }
}

Json Shared::ReadStation(StationId station) const
{
    const auto& counters = m_stations[station];
    return {{"queue", counters.queue->Read(Now())},
            {"sent", counters.sent},
            {"airtime", counters.airtime},
            {"backoffs", counters.backoffs}};
}

void Shared::ResetStation(StationId station)
{
    auto& counters = m_stations[station];
    counters.sent = counters.backoffs = 0;
    counters.airtime = 0.0;
    counters.queue->ResetStatistics(Now());
}

} // namespace netboxit
