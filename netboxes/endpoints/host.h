// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "checked_protocols.h"
#include "ingress.h"
#include "ospf_router.h"
#include "sending_budgets.h"
#include "station_port.h"

#include "../../middleware/part_configuration.h"

#include "ns3/node.h"
#include "ns3/socket.h"

#include <deque>
#include <map>
#include <optional>
#include <set>

namespace netboxit
{

/// How a host is joined to one station.
struct InterfaceConfiguration
{
    std::string name;
    StationId station;
    ns3::Mac48Address mac;
    std::uint16_t mtu;
    std::vector<Prefix> addresses;
    std::optional<middleware::Rate> access; ///< what it carries, as far as its links' management should know
};

struct RouteConfiguration
{
    Prefix destination;
    IpAddress gateway;
};

struct ManagementPart
{
    middleware::Part part;
    bool whileSending; ///< a member is one only while the host's TCP sends
};

struct HostConfiguration
{
    std::string name;
    std::vector<InterfaceConfiguration> interfaces;
    std::vector<RouteConfiguration> routes;
    bool forwarding; ///< as a router
    std::optional<OspfConfiguration> ospf;
    std::vector<ManagementPart> management;
};

class Management;

/// A computer with ns-3's Internet stack: Ethernet interfaces, ARP, IPv4, IPv6, ICMP, UDP and TCP.
class Host : public OspfRouter::Computer
{
  public:
    /// Joins `ports`, which are there by station and outlive it. Throws std::invalid_argument.
    Host(const HostConfiguration& configuration,
         std::deque<StationPort>& ports,
         Announcements& announcements,
         std::int64_t randomStream);
    ~Host() override;
    Host(const Host&) = delete;
    Host& operator=(const Host&) = delete;

    /// The wire of a station has lost its carrier, or has it again: an interface without one has no routes of IPv4, sends nothing,
    /// and OSPF knows at once.
    void SetCarrier(StationId station, bool carrier);
    /// The network's time begins: it joins the links whose management it has a part in.
    void Begin();
    /// Nothing more is sent for it: its connections are about to go.
    void EndManagement();
    /// The rate that the access by the interface at this station allows, bit/s (DyBRA).
    void SetAccess(StationId station, middleware::Rate access);
    /// What the netbox at this station tells of its link: members that follow it have its rate as their access, allocators divide it.
    void TakeTelemetry(StationId station, const LinkState& state);
    /// The rate of the links that it is the allocator of, and that no netbox tells, bit/s. Returns whether there are any.
    bool SetCapacity(middleware::Rate capacity);
    /// False while it waits for OSPF.
    bool Ready() const
    {
        return !m_ospf || m_ospf->Ready();
    }

    const std::string& Name() const
    {
        return m_name;
    }

    const std::vector<ns3::Ptr<PortDevice>>& Devices() const
    {
        return m_devices;
    }

    const ns3::Ptr<ns3::Node>& Node() const
    {
        return m_node;
    }

    const ns3::Ptr<CheckedTcp>& Tcp() const
    {
        return m_tcp;
    }

    /// On managed links, for the connections that send.
    const std::shared_ptr<SendingBudgets>& Budgets() const
    {
        return m_budgets;
    }

    bool HasIpv6() const
    {
        return m_hasIpv6;
    }

    /// That of a UDP port, for whoever sends from it and whoever listens there; 0: one of its own, of any port. Throws
    /// std::invalid_argument.
    ns3::Ptr<ns3::Socket> UdpSocket(bool isIpv6, std::uint16_t port);

    /// Takes what is sent to this IPv4 multicast group.
    void JoinGroup(const IpAddress& group);

    /// False when somebody listens at this UDP port already.
    bool ListenAt(bool isIpv6, std::uint16_t port)
    {
        return m_listening.emplace(isIpv6, port).second;
    }

    /// The MTU of the interface by which packets to `destination` leave, the first one's when there is no route.
    std::uint16_t MtuTowards(const IpAddress& destination) const;
    /// The address that packets to `destination` leave with; none without a route.
    std::optional<IpAddress> SourceTowards(const IpAddress& destination) const;

    /// The interface by which packets to `destination` leave; none without a route.
    ns3::Ptr<ns3::NetDevice> DeviceTowards(const IpAddress& destination) const;
    /// The interface of that name; none where there is none.
    ns3::Ptr<ns3::NetDevice> DeviceNamed(const std::string& interface) const;
    /// All that it was given.
    std::vector<IpAddress> Addresses() const;

    Json Read() const;
    void Reset();

  private:
    void MakeNode(std::int64_t randomStream);
    void AddInterface(const InterfaceConfiguration& interface, StationPort& port);
    /// The device in whose network the gateway is; throws std::invalid_argument for one in none.
    std::uint32_t InterfaceTowards(const IpAddress& gateway) const;
    void SendPacket(std::size_t device, ns3::Mac48Address to, Bytes packet) override;
    void UseRoutes(const ospf::Routes& before, const ospf::Routes& routes) override;
    /// Puts those that it was given and those that OSPF found in the place of all but those to its own networks.
    void ReplaceRoutes();
    void AddRoute(const RouteConfiguration& route, std::uint32_t device);
    std::size_t DeviceOf(StationId station) const;
    void Complete(const ns3::Ipv4Header& header, ns3::Ptr<const ns3::Packet>, std::uint32_t);
    void CountForwarded(const ns3::Ipv4Header&, ns3::Ptr<const ns3::Packet>, std::uint32_t);
    void CountForwarded6(const ns3::Ipv6Header&, ns3::Ptr<const ns3::Packet>, std::uint32_t);

    std::string m_name;
    Announcements& m_announcements;
    bool m_forwarding;
    bool m_hasIpv6;
    DropCounts m_drops;
    HostIngress m_ingress;
    std::uint64_t m_forwarded{0};
    ns3::Ptr<ns3::Node> m_node;
    ns3::Ptr<CheckedTcp> m_tcp;
    std::shared_ptr<SendingBudgets> m_budgets{std::make_shared<SendingBudgets>()};
    std::map<std::pair<bool, std::uint16_t>, ns3::Ptr<ns3::Socket>> m_udpSockets; ///< by version and port
    std::set<std::pair<bool, std::uint16_t>> m_listening;                         ///< the same
    std::vector<ns3::Ptr<PortDevice>> m_devices;
    std::vector<StationId> m_stations; ///< of the devices
    std::vector<std::vector<Prefix>> m_addresses; ///< of the devices
    std::vector<std::string> m_interfaces;        ///< their names
    std::vector<bool> m_carriers;                 ///< of the devices
    std::vector<RouteConfiguration> m_given;      ///< routes
    ospf::Routes m_found;
    std::unique_ptr<OspfRouter> m_ospf;
    std::unique_ptr<Management> m_management;
};

} // namespace netboxit
