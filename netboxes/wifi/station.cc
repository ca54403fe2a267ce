// SPDX-License-Identifier: GPL-2.0-or-later
#include "station.h"

#include "user_priority.h"

#include "ns3/ap-wifi-mac.h"
#include "ns3/llc-snap-header.h"
#include "ns3/simulator.h"
#include "ns3/socket.h"
#include "ns3/sta-wifi-mac.h"
#include "ns3/wifi-mac-queue-scheduler.h"
#include "ns3/wifi-mac-queue.h"
#include "ns3/wifi-psdu.h"
#include "ns3/wifi-remote-station-manager.h"
#include "ns3/wifi-utils.h"

#include <algorithm>

namespace netboxit
{

namespace
{

constexpr std::uint32_t LLC_SNAP = 8; ///< IEEE 802.2 and RFC 1042
/// Longest MSDU, LLC/SNAP included (IEEE 802.11-2020, 9.2.4, maximum data unit sizes).
constexpr std::uint32_t MAXIMUM_MSDU = 2304;
/// A group-addressed frame is on the air for at most 5.484 ms (aPPDUMaxTime) and is not acknowledged: whoever
/// has not got it by then never will.
const ns3::Time GROUP_FRAME_SETTLED = ns3::MilliSeconds(6);

/// The slot that an MSDU, still with its LLC/SNAP header, stands for.
std::optional<SlotId> SlotOf(const ns3::Ptr<const ns3::Packet>& msdu)
{
    if (msdu->GetSize() < LLC_SNAP + MINIMUM_TOKEN)
    {
        return std::nullopt;
    }
    auto token = msdu->Copy();
    token->RemoveAtStart(LLC_SNAP);
    return ReadToken(token);
}

/// The final destination of a data frame: address 3 towards the access point, address 1 from it (IEEE
/// 802.11-2020, 9.3.2.1).
ns3::Mac48Address FinalDestination(const ns3::WifiMacHeader& header)
{
    return header.IsToDs() ? header.GetAddr3() : header.GetAddr1();
}

} // namespace

void Stations::Add(Station& station)
{
    m_byId.push_back(&station);
    m_byAddress.emplace(station.Address(), &station);
}

const Station& Stations::At(StationId id) const
{
    return *m_byId.at(id);
}

const Station* Stations::Find(const ns3::Mac48Address& address) const
{
    const auto found = m_byAddress.find(address);
    return found == m_byAddress.end() ? nullptr : found->second;
}

Station::Station(
    StationId id, bool accessPoint, ns3::Ptr<ns3::WifiNetDevice> device, const Stations& cell, Fates& fates)
    : m_id(id), m_accessPoint(accessPoint), m_device(std::move(device)), m_cell(cell), m_fates(fates)
{
    m_device->SetReceiveCallback(ns3::MakeCallback(&Station::Receive, this));
    if (m_accessPoint)
    {
        m_device->SetPromiscReceiveCallback(ns3::MakeCallback(&Station::Overhear, this));
    }
    const auto phy = m_device->GetPhy();
    phy->TraceConnectWithoutContext("PhyTxPsduBegin", ns3::MakeCallback(&Station::TransmissionBegins, this));
    const auto mac = m_device->GetMac();
    mac->TraceConnectWithoutContext("MacTxDrop", ns3::MakeCallback(&Station::NotEnqueued, this));
    mac->TraceConnectWithoutContext("MacRxDrop", ns3::MakeCallback(&Station::Refused, this));
    mac->TraceConnectWithoutContext("DroppedMpdu", ns3::MakeCallback(&Station::Dropped, this));
    mac->GetMacQueueScheduler()->TraceConnectWithoutContext(
        "Overflow", ns3::MakeCallback(&Station::QueueOverflows, this));
}

Station::~Station()
{
    // ns-3 may have disposed of the device already; otherwise it lives on until Simulator::Destroy and must
    // not call back then.
    if (m_device->GetNPhys() == 0)
    {
        return;
    }
    const auto mac = m_device->GetMac();
    m_device->GetPhy()->TraceDisconnectWithoutContext("PhyTxPsduBegin",
                                                      ns3::MakeCallback(&Station::TransmissionBegins, this));
    mac->TraceDisconnectWithoutContext("MacTxDrop", ns3::MakeCallback(&Station::NotEnqueued, this));
    mac->TraceDisconnectWithoutContext("MacRxDrop", ns3::MakeCallback(&Station::Refused, this));
    mac->TraceDisconnectWithoutContext("DroppedMpdu", ns3::MakeCallback(&Station::Dropped, this));
    mac->GetMacQueueScheduler()->TraceDisconnectWithoutContext(
        "Overflow", ns3::MakeCallback(&Station::QueueOverflows, this));
}

ns3::Mac48Address Station::Address() const
{
    return ns3::Mac48Address::ConvertFrom(m_device->GetAddress());
}

bool Station::IsAssociated() const
{
    return m_accessPoint || ns3::DynamicCast<ns3::StaWifiMac>(m_device->GetMac())->IsAssociated();
}

void Station::Send(Destination to, const Frame& frame)
{
    const Station* receiver = to.station ? &m_cell.At(*to.station) : nullptr;
    if (std::max(frame.length, MINIMUM_TOKEN) + LLC_SNAP > MAXIMUM_MSDU)
    {
        Lose(frame.slot, receiver, Loss::Unsupported);
        return;
    }
    auto token = MakeToken(frame);
    if (m_device->GetMac()->GetQosSupported())
    {
        ns3::SocketPriorityTag priority;
        priority.SetPriority(UserPriority(frame.dscp));
        token->AddPacketTag(priority);
    }
    const auto address = receiver ? receiver->Address() : ns3::Mac48Address::GetBroadcast();
    m_device->Send(token, address, frame.etherType);
}

bool Station::Receive(ns3::Ptr<ns3::NetDevice>,
                      ns3::Ptr<const ns3::Packet> packet,
                      std::uint16_t,
                      const ns3::Address&)
{
    if (const auto slot = ReadToken(packet))
    {
        m_fates.Deliver(*slot, m_id);
    }
    return true;
}

/// The access point hears frames that it relays between stations. ns-3's relays only to associated ones and
/// drops the others without a word.
bool Station::Overhear(ns3::Ptr<ns3::NetDevice>,
                       ns3::Ptr<const ns3::Packet> packet,
                       std::uint16_t,
                       const ns3::Address&,
                       const ns3::Address& to,
                       ns3::NetDevice::PacketType type)
{
    if (type != ns3::NetDevice::PACKET_OTHERHOST)
    {
        return true;
    }
    const auto address = ns3::Mac48Address::ConvertFrom(to);
    const auto mac = ns3::DynamicCast<ns3::ApWifiMac>(m_device->GetMac());
    const auto* receiver = m_cell.Find(address);
    if (const auto slot = ReadToken(packet); slot && receiver && !mac->IsAssociated(address))
    {
        Lose(*slot, receiver, Loss::Outage);
    }
    return true;
}

void Station::TransmissionBegins(ns3::WifiConstPsduMap psdus, ns3::WifiTxVector vector, double)
{
    for (const auto& [staId, psdu] : psdus)
    {
        const auto& first = psdu->GetHeader(0);
        if (!first.IsData() || !first.HasData())
        {
            continue;
        }
        m_rate = vector.GetMode(staId).GetDataRate(vector, staId);
        for (const auto& mpdu : *psdu)
        {
            ++m_transmissions;
            m_retransmissions += mpdu->GetHeader().IsRetry();
        }
        const auto slot = first.GetAddr1().IsGroup() ? SlotOf(psdu->GetPayload(0)) : std::nullopt;
        if (slot)
        {
            ns3::Simulator::Schedule(GROUP_FRAME_SETTLED, &Station::GroupFrameSettles, this, *slot);
        }
    }
}

void Station::GroupFrameSettles(SlotId slot)
{
    for (const auto* station : m_cell.All())
    {
        if (!station->IsAssociated())
        {
            m_fates.Lose(slot, station->Id(), Loss::Outage);
        }
    }
    m_fates.LoseAll(slot, Loss::OnAir);
}

/// The MAC refuses a frame before queueing it when the receiver, or this station itself, is not associated.
void Station::NotEnqueued(ns3::Ptr<const ns3::Packet> msdu)
{
    if (const auto slot = SlotOf(msdu))
    {
        Lose(*slot, nullptr, Loss::Outage);
    }
}

/// The access point does not know at once that a station has lost it: such a station acknowledges data frames
/// and discards them.
void Station::Refused(ns3::Ptr<const ns3::Packet> msdu)
{
    if (const auto slot = IsAssociated() ? std::nullopt : SlotOf(msdu))
    {
        Lose(*slot, this, Loss::Outage);
    }
}

void Station::QueueOverflows(ns3::Ptr<const ns3::WifiMpdu> mpdu)
{
    Dropped(ns3::WIFI_MAC_DROP_FAILED_ENQUEUE, mpdu);
}

void Station::Dropped(ns3::WifiMacDropReason reason, ns3::Ptr<const ns3::WifiMpdu> mpdu)
{
    const auto& header = mpdu->GetHeader();
    const auto slot = header.IsData() && header.HasData() ? SlotOf(mpdu->GetPacket()) : std::nullopt;
    if (!slot)
    {
        return;
    }
    const auto* receiver = m_cell.Find(FinalDestination(header));
    const bool reachable = IsAssociated() && (!receiver || receiver->IsAssociated());
    switch (reason)
    {
    case ns3::WIFI_MAC_DROP_FAILED_ENQUEUE:
        return Lose(*slot, receiver, Loss::QueueFull);
    case ns3::WIFI_MAC_DROP_EXPIRED_LIFETIME:
    case ns3::WIFI_MAC_DROP_QOS_OLD_PACKET:
        return Lose(*slot, receiver, reachable ? Loss::QueueExpired : Loss::Outage);
    case ns3::WIFI_MAC_DROP_REACHED_RETRY_LIMIT:
        return Lose(*slot, receiver, reachable ? Loss::RetryLimit : Loss::Outage);
    }
}

void Station::Lose(SlotId slot, const Station* receiver, Loss reason)
{
    ++m_lost[reason];
    if (receiver)
    {
        m_fates.Lose(slot, receiver->Id(), reason);
    }
    else
    {
        m_fates.LoseAll(slot, reason);
    }
}

std::vector<ns3::Ptr<ns3::WifiMacQueue>> Station::Queues() const
{
    std::vector<ns3::Ptr<ns3::WifiMacQueue>> queues;
    for (const auto ac : {ns3::AC_BE, ns3::AC_BK, ns3::AC_VI, ns3::AC_VO, ns3::AC_BE_NQOS})
    {
        if (auto queue = m_device->GetMac()->GetTxopQueue(ac))
        {
            queues.push_back(queue);
        }
    }
    return queues;
}

Json Station::Read() const
{
    std::uint32_t queued = 0;
    for (const auto& queue : Queues())
    {
        queued += queue->GetNPackets();
    }
    Json lost = Json::object();
    for (const auto& [reason, count] : m_lost)
    {
        lost[std::string(NameOf(reason))] = count;
    }
    return {{"associated", IsAssociated()},
            {"transmissions", m_transmissions},
            {"retransmissions", m_retransmissions},
            {"rate", m_rate},
            {"queued", queued},
            {"lost", lost}};
}

} // namespace netboxit
