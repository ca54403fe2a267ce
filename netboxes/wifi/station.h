// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../engine/segment.h"

#include "ns3/mac48-address.h"
#include "ns3/wifi-mac-queue.h"
#include "ns3/wifi-mac.h"
#include "ns3/wifi-net-device.h"
#include "ns3/wifi-phy.h"

#include <map>
#include <vector>

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

/// One emulated station: sends frames as tokens through its ns-3 device, and tells the engine and its own
/// counters what became of them.
class Station
{
  public:
    Station(StationId id,
            bool accessPoint,
            ns3::Ptr<ns3::WifiNetDevice> device,
            const Stations& cell,
            Fates& fates);
    Station(const Station&) = delete;
    Station& operator=(const Station&) = delete;
    ~Station();

    StationId Id() const
    {
        return m_id;
    }
    bool IsAccessPoint() const
    {
        return m_accessPoint;
    }
    ns3::Mac48Address Address() const;
    const ns3::Ptr<ns3::WifiNetDevice>& Device() const
    {
        return m_device;
    }
    /// An access point always is; a station is while it hears the access point's beacons.
    bool IsAssociated() const;

    void Send(Destination to, const Frame& frame);
    Json Read() const;

  private:
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
    /// Counts one loss here and tells the engine: for one station, or for everybody whom the frame has not
    /// reached.
    void Lose(SlotId slot, const Station* receiver, Loss reason);
    /// The transmit queues that this station has: one, or one of each access category.
    std::vector<ns3::Ptr<ns3::WifiMacQueue>> Queues() const;

    StationId m_id;
    bool m_accessPoint;
    ns3::Ptr<ns3::WifiNetDevice> m_device;
    const Stations& m_cell;
    Fates& m_fates;
    std::uint64_t m_transmissions{};   ///< data frames put on the air, each attempt
    std::uint64_t m_retransmissions{}; ///< those of them that were repetitions
    double m_rate{};                   ///< bit/s of the latest data frame
    std::map<Loss, std::uint64_t> m_lost;
};

} // namespace netboxit
