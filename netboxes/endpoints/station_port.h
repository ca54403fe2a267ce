// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "port_device.h"

#include <map>
#include <vector>

namespace netboxit
{

/// A station, and the hosts whose interfaces are at it: one, or several as behind a switch. The switch's ports of hosts are
/// isolated (RFC 5517, 3): a host reaches what is behind the station, and no other host of it. So no traffic passes between them
/// in no time at all.
class StationPort
{
  public:
    struct Counters
    {
        std::uint64_t received{};
        std::uint64_t receivedBytes{}; ///< with FCS, as all bytes here
        std::uint64_t sent{};
        std::uint64_t sentBytes{};
        std::uint64_t sendDrops{}; ///< the netbox was full, the frame longer than its port's MTU, or no carrier
        std::uint64_t otherHost{}; ///< for another MAC address, or a question that concerns no host here
        std::uint64_t malformed{};
        std::uint64_t unsupported{};
        std::uint64_t overLimit{}; ///< a table of the host was full
    };

    StationPort(StationId station, Frames& frames) : m_station(station), m_frames(frames)
    {
    }

    /// Throws std::invalid_argument where another host has the MAC address.
    void Join(PortDevice& device);

    /// A frame that came in at the port.
    void Receive(Bytes frame);
    /// A host's frame leaves at the port. False: the netbox has no room for it, or it is longer than the port's MTU permits.
    bool Send(Bytes frame);

    void CountSendDrop()
    {
        ++m_counters.sendDrops;
    }

    const Counters& Count() const
    {
        return m_counters;
    }

    void Reset()
    {
        m_counters = {};
    }

  private:
    void Count(Finding finding);
    /// What all hosts of a group make of a frame: the best of their findings, so that it is counted once.
    Finding TakenByGroup(const EthernetPacket& packet);

    StationId m_station;
    Frames& m_frames;
    std::vector<PortDevice*> m_devices;
    std::map<ns3::Mac48Address, PortDevice*> m_byAddress;
    Counters m_counters;
};

} // namespace netboxit
