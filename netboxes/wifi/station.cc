// SPDX-License-Identifier: GPL-2.0-or-later
#include "station.h"

#include "user_priority.h"

#include "ns3/ap-wifi-mac.h"
#include "ns3/llc-snap-header.h"
#include "ns3/simulator.h"
#include "ns3/socket.h"
#include "ns3/sta-wifi-mac.h"
#include "ns3/wifi-mac-queue-scheduler.h"
#include "ns3/wifi-remote-station-manager.h"
#include "ns3/wifi-utils.h"

#include <algorithm>

namespace netboxit
{

namespace
{

constexpr std::uint32_t LLC_SNAP = 8; ///< IEEE 802.2 and RFC 1042
/// Mesh Control field without address extension (IEEE 802.11-2020, 9.2.4.7.3), and what an extended address adds.
constexpr std::uint32_t MESH_CONTROL = 6;
constexpr std::uint32_t EXTENDED_ADDRESS = 6;
/// Longest MSDU, LLC/SNAP included (IEEE 802.11-2020, 9.2.4, maximum data unit sizes).
constexpr std::uint32_t MAXIMUM_MSDU = 2304;
/// A group-addressed frame is on the air for at most 5.484 ms (aPPDUMaxTime), or 18 ms at 1 Mbit/s, the lowest
/// basic rate at 2.4 GHz, and is not acknowledged: whoever has not got it by then never will.
constexpr double GROUP_FRAME_SETTLED = 6e-3;
constexpr double DSSS_GROUP_FRAME_SETTLED = 20e-3;
/// Before the engine gives a frame up (30 s).
constexpr double LONGEST_FLOOD = 25.0;
/// That the lowest rate is for: 20 MHz of OFDM; DSSS has one width only.
constexpr ns3::MHz_u NARROWEST{20};
constexpr std::int64_t QUEUE_STREAM = 3'000'000;

/// In a mesh a broadcast may wait in the queue of each mesh point.
ns3::Time GroupFrameSettled(const CellPlan& plan)
{
    const double onAir = plan.band < 3e9 ? DSSS_GROUP_FRAME_SETTLED : GROUP_FRAME_SETTLED;
    const double flood = plan.msduLifetime * static_cast<double>(plan.stations.size()) + 0.1;
    return ns3::Seconds(plan.mode == Mode::Mesh ? std::min(flood, LONGEST_FLOOD) : onAir);
}

/// Whom a station sends everything to: the access point, where it is not that itself.
std::optional<StationId> RelayOf(const CellPlan& plan, StationId id)
{
    const auto point = std::ranges::find_if(plan.stations, &StationPlan::accessPoint);
    return point == plan.stations.end() || plan.stations[id].accessPoint
               ? std::nullopt
               : std::optional(static_cast<StationId>(point - plan.stations.begin()));
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

Station::Station(StationId id, const StationSurroundings& around)
    : m_id(id), m_around(around), m_device(around.cell.devices[id]), m_top(around.cell.Top(id)),
      m_lowestRate(static_cast<double>(m_device->GetRemoteStationManager()->GetDefaultMode().GetDataRate(NARROWEST))),
      m_groupFrameSettled(GroupFrameSettled(around.plan)), m_airtime(m_device),
      m_channels(m_device, around.names, around.stations, id, RelayOf(around.plan, id))
{
    m_top->SetReceiveCallback(ns3::MakeCallback(&Station::Receive, this));
    if (around.plan.stations[id].accessPoint)
    {
        m_device->SetPromiscReceiveCallback(ns3::MakeCallback(&Station::Overhear, this));
    }
    if (IsMesh())
    {
        m_routing = MeshRouting::Watch(around.cell.meshPoints[id],
                                       [this](const auto& token, auto failure) { PathFailed(token, failure); });
    }
    MakeQueues();
    Connect([](const auto& source, const std::string& name, const auto& callback) {
        source->TraceConnectWithoutContext(name, callback);
    });
}

Station::~Station()
{
    // ns-3 may have disposed of the device already; otherwise it lives on until Simulator::Destroy and must
    // not call back then.
    if (m_routing)
    {
        m_routing->Forget();
    }
    if (m_device->GetNPhys() > 0)
    {
        Connect([](const auto& source, const std::string& name, const auto& callback) {
            source->TraceDisconnectWithoutContext(name, callback);
        });
    }
}

/// To what tells of frames, or from it.
template <typename Connector>
void Station::Connect(const Connector& connect)
{
    connect(m_device->GetPhy(), "PhyTxPsduBegin", ns3::MakeCallback(&Station::TransmissionBegins, this));
    const auto mac = m_device->GetMac();
    connect(mac, "MacTxDrop", ns3::MakeCallback(&Station::NotEnqueued, this));
    connect(mac, "MacRxDrop", ns3::MakeCallback(&Station::Refused, this));
    connect(mac, "DroppedMpdu", ns3::MakeCallback(&Station::Dropped, this));
    connect(mac->GetMacQueueScheduler(), "Overflow", ns3::MakeCallback(&Station::QueueOverflows, this));
}

ns3::Mac48Address Station::Address() const
{
    return ns3::Mac48Address::ConvertFrom(m_device->GetAddress());
}

void Station::Send(Destination to, const Frame& frame)
{
    const Station* receiver = to.station ? &m_around.stations.At(*to.station) : nullptr;
    const std::uint32_t control = IsMesh() ? MESH_CONTROL : 0;
    if (std::max(frame.length, MINIMUM_TOKEN) + LLC_SNAP + control > MAXIMUM_MSDU)
    {
        Lose(frame.slot, receiver, Loss::Unsupported);
        return;
    }
    auto token = MakeToken(frame);
    const auto userPriority = UserPriority(frame.dscp);
    if (m_around.plan.qos)
    {
        ns3::SocketPriorityTag priority;
        priority.SetPriority(userPriority);
        token->AddPacketTag(priority);
    }
    if (IsMesh() && !receiver)
    {
        ns3::Simulator::Schedule(m_groupFrameSettled, &Station::GroupFrameSettles, this, frame.slot);
    }
    const auto address = receiver ? receiver->Address() : ns3::Mac48Address::GetBroadcast();
    const auto bytes = token->GetSize() + LLC_SNAP;
    QueueOf(ns3::QosUtilsMapTidToAc(userPriority))
        .Enqueue({token, address, frame.etherType},
                 {bytes, frame.trafficClass, m_around.frames.Read(frame.slot), m_channels.ReceiverOf(to.station)},
                 Rate());
}

void Station::MakeQueues()
{
    const auto send = [this](const TransmitQueue::Outgoing& frame) { m_top->Send(frame.token, frame.to, frame.etherType); };
    for (const auto index : {ns3::AC_BE, ns3::AC_BK, ns3::AC_VI, ns3::AC_VO, ns3::AC_BE_NQOS})
    {
        if (const auto mac = m_device->GetMac()->GetTxopQueue(index))
        {
            const auto category = index == ns3::AC_BE_NQOS ? ns3::AC_BE : index;
            const auto lose = [this, category](const TransmitQueue::Outgoing& frame, Loss reason)
            {
                if (const auto slot = ReadToken(frame.token))
                {
                    Lose(*slot, nullptr, reason, category);
                }
            };
            const auto mark = [this](const TransmitQueue::Outgoing& frame)
            {
                const auto slot = ReadToken(frame.token);
                return slot && m_around.frames.MarkCongestion(*slot, std::nullopt); // on the air it is one frame for all
            };
            m_queues.try_emplace(category, m_around.plan, mac, QUEUE_STREAM + 10 * m_id + category, send, lose, mark, m_channels);
        }
    }
}

void Station::SetQueue(const Json& queue)
{
    for (auto& [category, each] : m_queues)
    {
        each.Set(queue, Rate());
    }
}

TransmitQueue& Station::QueueOf(ns3::AcIndex category)
{
    return m_queues.size() == 1 ? m_queues.begin()->second : m_queues.at(category);
}

double Station::Rate() const
{
    return m_counters.Rate() > 0 ? m_counters.Rate() : m_lowestRate;
}

bool Station::Receive(ns3::Ptr<ns3::NetDevice>,
                      ns3::Ptr<const ns3::Packet> packet,
                      std::uint16_t,
                      const ns3::Address&)
{
    if (const auto slot = ReadToken(packet))
    {
        m_around.fates.Deliver(*slot, m_id);
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
    const auto* receiver = m_around.stations.Find(address);
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
        m_counters.CountTransmission(*psdu, vector.GetMode(staId).GetDataRate(vector, staId));
        auto& queue = QueueOf(CategoryOf(first).value_or(ns3::AC_BE));
        for (const auto& mpdu : *psdu)
        {
            if (!mpdu->GetHeader().IsRetry())
            {
                queue.CountSent((ns3::Simulator::Now() - mpdu->GetTimestamp()).GetNanoSeconds());
            }
        }
        const auto slot = first.GetAddr1().IsGroup() && !IsMesh() ? SlotOf(psdu->GetPayload(0)) : std::nullopt;
        if (slot)
        {
            ns3::Simulator::Schedule(m_groupFrameSettled, &Station::GroupFrameSettles, this, *slot);
        }
    }
}

std::optional<SlotId> Station::SlotOf(const ns3::Ptr<const ns3::Packet>& msdu) const
{
    std::uint32_t control = 0;
    if (std::uint8_t flags = 0; IsMesh() && msdu->CopyData(&flags, 1) == 1)
    {
        control = MESH_CONTROL + EXTENDED_ADDRESS * (flags & 3);
    }
    if (msdu->GetSize() < control + LLC_SNAP + MINIMUM_TOKEN)
    {
        return std::nullopt;
    }
    auto token = msdu->Copy();
    token->RemoveAtStart(control + LLC_SNAP);
    return ReadToken(token);
}

Json Station::Read() const
{
    std::map<ns3::AcIndex, Json> queues;
    for (const auto& [category, queue] : m_queues)
    {
        queues.emplace(category, queue.Read());
    }
    Json read = m_counters.Read(queues);
    read["associated"] = m_around.links.IsUp(m_id);
    read["airtime"] = m_airtime.Transmitting();
    read["busy"] = m_airtime.Busy();
    if (IsMesh())
    {
        read["peers"] = m_around.links.PeersOf(m_id).size();
    }
    return read;
}

void Station::Reset()
{
    m_counters.Reset();
    m_airtime.Reset();
    for (auto& [category, queue] : m_queues)
    {
        queue.Reset();
    }
}

} // namespace netboxit
