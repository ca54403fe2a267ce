// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "links.h"
#include "mesh_routing.h"
#include "receiver_channels.h"
#include "station_counters.h"
#include "transmit_queue.h"

#include "ns3/wifi-mac.h"
#include "ns3/wifi-phy.h"

namespace netboxit
{

class Station;

/// The stations of one cell, found by identity or by MAC address.
class Stations
{
  public:
    void Add(Station& station);
    const Station& At(StationId id) const;
    /// Nothing for a group address.
    const Station* Find(const ns3::Mac48Address& address) const;
    const std::vector<Station*>& All() const
    {
        return m_byId;
    }

  private:
    std::vector<Station*> m_byId;
    std::map<ns3::Mac48Address, Station*> m_byAddress;
};

/// What stations of a cell share.
struct StationSurroundings
{
    const std::vector<std::string>& names;
    const CellPlan& plan;
    const Cell& cell;
    const Stations& stations;
    const Links& links;
    Fates& fates;
    Frames& frames;
};

/// One emulated station: sends frames as tokens through its ns-3 device, and tells the engine and its own
/// counters what became of them.
class Station
{
  public:
    Station(StationId id, const StationSurroundings& around);
    Station(const Station&) = delete;
    Station& operator=(const Station&) = delete;
    ~Station();

    StationId Id() const
    {
        return m_id;
    }
    ns3::Mac48Address Address() const;
    const ns3::Ptr<ns3::WifiNetDevice>& Device() const
    {
        return m_device;
    }

    void Send(Destination to, const Frame& frame);
    /// Another queue for each access category, as queue.py dumps it; throws OutOfRange and then changes nothing.
    void SetQueue(const Json& queue);
    Json Read() const;
    /// Statistics count from now on.
    void Reset();

  private:
    bool IsMesh() const
    {
        return m_around.plan.mode == Mode::Mesh;
    }
    bool Receive(ns3::Ptr<ns3::NetDevice> device,
                 ns3::Ptr<const ns3::Packet> packet,
                 std::uint16_t protocol,
                 const ns3::Address& from);
    bool Overhear(ns3::Ptr<ns3::NetDevice> device,
                  ns3::Ptr<const ns3::Packet> packet,
                  std::uint16_t protocol,
                  const ns3::Address& from,
                  const ns3::Address& to,
                  ns3::NetDevice::PacketType type);
    void TransmissionBegins(ns3::WifiConstPsduMap psdus, ns3::WifiTxVector vector, double power);
    void GroupFrameSettles(SlotId slot);
    void NotEnqueued(ns3::Ptr<const ns3::Packet> msdu);
    void Refused(ns3::Ptr<const ns3::Packet> msdu);
    void QueueOverflows(ns3::Ptr<const ns3::WifiMpdu> mpdu);
    void Dropped(ns3::WifiMacDropReason reason, ns3::Ptr<const ns3::WifiMpdu> mpdu);
    void PathFailed(const ns3::Ptr<const ns3::Packet>& token, MeshRouting::Failure failure);
    template <typename Connector>
    void Connect(const Connector& connect);
    /// Whether frames for `receiver` (null: for everyone) had a way.
    bool HasWayTo(const Station* receiver) const;
    /// Counts one loss here and tells the engine: for one station, or for everybody whom the frame has not
    /// reached.
    void Lose(SlotId slot, const Station* receiver, Loss reason, std::optional<ns3::AcIndex> category = {});
    /// The slot that an MSDU, still with its LLC/SNAP header and a mesh's control field, stands for.
    std::optional<SlotId> SlotOf(const ns3::Ptr<const ns3::Packet>& msdu) const;
    /// In front of each queue that the MAC has: one, or one of each access category.
    void MakeQueues();
    /// That of an access category, or the only one.
    TransmitQueue& QueueOf(ns3::AcIndex category);
    /// What it sends with: the rate of its latest data frame, or before the first one its lowest; bit/s.
    double Rate() const;

    StationId m_id;
    StationSurroundings m_around;
    ns3::Ptr<ns3::WifiNetDevice> m_device;
    ns3::Ptr<ns3::NetDevice> m_top; ///< the mesh point above the device, or the device
    ns3::Ptr<MeshRouting> m_routing;
    double m_lowestRate; ///< bit/s
    ns3::Time m_groupFrameSettled; ///< after that nobody will get a group-addressed frame any more
    Airtime m_airtime;
    StationCounters m_counters;
    ReceiverChannels m_channels;
    std::map<ns3::AcIndex, TransmitQueue> m_queues; ///< best effort's is the only one without QoS
};

} // namespace netboxit
