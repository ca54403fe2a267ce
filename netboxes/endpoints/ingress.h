// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "addresses.h"
#include "port_device.h"

#include "ns3/ipv4-header.h"

#include <map>
#include <set>
#include <vector>

namespace netboxit
{

/// Keeps from a host what does not concern it, and within bounds what others make it remember: neighbours, and fragments that
/// wait for others.
class HostIngress : public PortDevice::Ingress
{
  public:
    void AddAddress(const Prefix& address);

    /// Packets of IPv4 are offered to it before they go to the Internet stack.
    using Diversion = std::function<bool(StationId station, ns3::Mac48Address from, Bytes packet)>;
    void DivertTo(Diversion diversion)
    {
        m_diversion = std::move(diversion);
    }

    Finding Admit(std::uint16_t etherType, Bytes packet) override;
    bool Divert(StationId station, ns3::Mac48Address from, std::uint16_t etherType, Bytes packet) override
    {
        return m_diversion && etherType == ether_type::IPV4 && m_diversion(station, from, packet);
    }
    /// The host has a whole datagram: its fragments wait no more.
    void Complete(const ns3::Ipv4Header& header);

  private:
    using DatagramKey = std::array<std::uint8_t, 11>; ///< source, destination, identification, protocol

    struct Unfinished
    {
        std::int64_t since; ///< ns
        unsigned fragments;
    };

    bool IsOwn(const IpAddress& address) const;
    /// A broadcast question (RFC 826) or a multicast one (RFC 4861) for the MAC address of another host. Where many hosts are at one
    /// station, most of what arrives by broadcast is that.
    bool IsQuestionToOthers(std::uint16_t etherType, Bytes packet) const;
    /// Whether the neighbour is known or has room; also when it is no neighbour.
    bool KnowsNeighbour(const IpAddress& address);
    bool HasRoomForFragment(Bytes packet);

    std::vector<Prefix> m_addresses;
    std::set<IpAddress> m_neighbours;
    Diversion m_diversion;
    std::map<DatagramKey, Unfinished> m_unfinished;
};

} // namespace netboxit
