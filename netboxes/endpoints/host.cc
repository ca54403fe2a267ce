// SPDX-License-Identifier: GPL-2.0-or-later
#include "host.h"

#include "group_routing.h"
#include "management.h"
#include "routing.h"

#include "ns3/udp-socket-factory.h"
#include "ns3/inet6-socket-address.h"
#include "ns3/inet-socket-address.h"
#include "ns3/arp-cache.h"
#include "ns3/arp-l3-protocol.h"
#include "ns3/boolean.h"
#include "ns3/ipv4-interface.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/ipv4-routing-table-entry.h"
#include "ns3/ipv4-static-routing.h"
#include "ns3/ipv6-extension-demux.h"
#include "ns3/ipv6-interface.h"
#include "ns3/ipv6-l3-protocol.h"
#include "ns3/ipv6-routing-table-entry.h"
#include "ns3/ipv6-static-routing.h"
#include "ns3/ndisc-cache.h"
#include "ns3/pointer.h"
#include "ns3/random-variable-stream.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/traffic-control-layer.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <sstream>

namespace netboxit
{

namespace
{

/// Packets that wait for a neighbour's MAC address. Linux keeps 212 992 bytes (unres_qlen_bytes).
constexpr std::uint32_t PENDING_PACKETS = 140;
/// RFC 4291, 2.5.6: the prefix of an address that ns-3 gives each interface.
constexpr unsigned LINK_LOCAL_PREFIX = 64;
/// Of the host's random streams, behind those of neighbour discovery.
constexpr std::int64_t OSPF_STREAM = 4;
constexpr std::int64_t MANAGEMENT_STREAM = 5;
/// RFC 2328, 10.1.
constexpr std::array NEIGHBOUR_STATES{"Init", "ExStart", "Exchange", "Loading", "Full"};

std::uint32_t MaskOf(unsigned length)
{
    return length == 0 ? 0 : 0xffffffffU << (32 - length);
}

ns3::Ptr<ns3::RandomVariableStream> Zero()
{
    return ns3::CreateObject<ns3::ConstantRandomVariable>();
}

} // namespace

Host::Host(const HostConfiguration& configuration,
           std::deque<StationPort>& ports,
           Announcements& announcements,
           std::int64_t randomStream)
    : m_name(configuration.name), m_announcements(announcements), m_forwarding(configuration.forwarding),
      m_hasIpv6(std::ranges::any_of(configuration.interfaces,
                                    [](const auto& interface) {
                                        return std::ranges::any_of(interface.addresses, [](const auto& prefix) {
                                            return prefix.address.isIpv6;
                                        });
                                    }))
{
    MakeNode(randomStream);
    for (const auto& interface : configuration.interfaces)
    {
        AddInterface(interface, ports.at(interface.station));
    }
    if (m_hasIpv6 && !m_forwarding)
    {
        // An interface that does not forward yet asks for routers; until this event all of them do.
        const auto ipv6 = m_node->GetObject<ns3::Ipv6L3Protocol>();
        ns3::Simulator::ScheduleNow([ipv6] { ipv6->SetAttribute("IpForward", ns3::BooleanValue(false)); });
    }
    m_given = configuration.routes;
    ReplaceRoutes();
    if (configuration.ospf)
    {
        m_ospf = std::make_unique<OspfRouter>(*configuration.ospf, *this, randomStream + OSPF_STREAM);
        m_ingress.DivertTo([this](StationId station, ns3::Mac48Address from, Bytes packet)
                           { return m_ospf->Receive(DeviceOf(station), from, packet); });
    }
    if (!configuration.management.empty())
    {
        m_management =
            std::make_unique<Management>(configuration.management, *this, announcements, randomStream + MANAGEMENT_STREAM);
    }
    for (const auto& interface : configuration.interfaces)
    {
        if (interface.access)
        {
            SetAccess(interface.station, *interface.access);
        }
    }
}

Host::~Host()
{
    EndManagement();
    m_node->Dispose();
}

void Host::MakeNode(std::int64_t randomStream)
{
    m_node = ns3::CreateObject<ns3::Node>();
    const auto arp = ns3::CreateObject<ns3::ArpL3Protocol>();
    arp->SetAttribute("RequestJitter", ns3::PointerValue(Zero()));
    m_node->AggregateObject(arp);
    const auto ipv4 = ns3::CreateObject<ns3::Ipv4L3Protocol>();
    ipv4->SetAttribute("IpForward", ns3::BooleanValue(m_forwarding));
    m_node->AggregateObject(ipv4);
    m_node->AggregateObject(ns3::CreateObject<CheckedIcmp>(m_drops));
    ipv4->SetRoutingProtocol(ns3::CreateObject<GroupRouting>());
    ipv4->TraceConnectWithoutContext("LocalDeliver", ns3::MakeCallback(&Host::Complete, this));
    ipv4->TraceConnectWithoutContext("UnicastForward", ns3::MakeCallback(&Host::CountForwarded, this));
    if (m_hasIpv6)
    {
        const auto ipv6 = ns3::CreateObject<ns3::Ipv6L3Protocol>();
        ipv6->SetAttribute("IpForward", ns3::BooleanValue(true));
        ipv6->SetAttribute("SendIcmpv6Redirect", ns3::BooleanValue(false));
        m_node->AggregateObject(ipv6);
        const auto icmp = ns3::CreateObject<CheckedIcmpv6>(m_drops);
        icmp->SetAttribute("DAD", ns3::BooleanValue(false));
        icmp->SetAttribute("SolicitationJitter", ns3::PointerValue(Zero()));
        icmp->AssignStreams(randomStream);
        m_node->AggregateObject(icmp);
        ipv6->SetRoutingProtocol(ns3::CreateObject<ns3::Ipv6StaticRouting>());
        ipv6->TraceConnectWithoutContext("UnicastForward", ns3::MakeCallback(&Host::CountForwarded6, this));
        // Without extension headers: ns-3's parsers of them trust every length.
        const auto extensions = ns3::CreateObject<ns3::Ipv6ExtensionDemux>();
        extensions->SetNode(m_node);
        m_node->AggregateObject(extensions);
    }
    const auto trafficControl = ns3::CreateObject<ns3::TrafficControlLayer>();
    m_node->AggregateObject(trafficControl);
    m_node->AggregateObject(ns3::CreateObject<CheckedUdp>(m_drops));
    m_tcp = ns3::CreateObject<CheckedTcp>(m_drops);
    m_node->AggregateObject(m_tcp);
    m_tcp->Interpose();
    arp->SetTrafficControl(trafficControl);
}

void Host::JoinGroup(const IpAddress& group)
{
    ns3::DynamicCast<GroupRouting>(m_node->GetObject<ns3::Ipv4>()->GetRoutingProtocol())->Join(group.Ipv4());
}

ns3::Ptr<ns3::Socket> Host::UdpSocket(bool isIpv6, std::uint16_t port)
{
    if (const auto found = m_udpSockets.find({isIpv6, port}); port != 0 && found != m_udpSockets.end())
    {
        return found->second;
    }
    const auto socket = ns3::Socket::CreateSocket(m_node, ns3::UdpSocketFactory::GetTypeId());
    const ns3::Address local = isIpv6 ? ns3::Address(ns3::Inet6SocketAddress(ns3::Ipv6Address::GetAny(), port))
                                      : ns3::InetSocketAddress(ns3::Ipv4Address::GetAny(), port);
    if ((port == 0 ? (isIpv6 ? socket->Bind6() : socket->Bind()) : socket->Bind(local)) != 0)
    {
        throw std::invalid_argument("host " + m_name + ": UDP port " + std::to_string(port) + " is in use; choose another one");
    }
    if (port != 0)
    {
        m_udpSockets[{isIpv6, port}] = socket;
    }
    return socket;
}

void Host::AddInterface(const InterfaceConfiguration& interface, StationPort& port)
{
    const auto device =
        ns3::CreateObject<PortDevice>(interface.station, port, interface.mac, interface.mtu, m_ingress);
    port.Join(*device);
    m_node->AddDevice(device);
    m_devices.push_back(device);
    m_stations.push_back(interface.station);
    m_addresses.push_back(interface.addresses);
    m_interfaces.push_back(interface.name);
    m_carriers.push_back(true);
    const auto ipv4 = m_node->GetObject<ns3::Ipv4L3Protocol>();
    const auto index = ipv4->AddInterface(device);
    for (const auto& own : interface.addresses)
    {
        const auto& [address, length] = own;
        m_ingress.AddAddress(own);
        if (!address.isIpv6)
        {
            const ns3::Ipv4Mask mask(MaskOf(length));
            ipv4->AddAddress(index, {address.Ipv4(), mask});
        }
    }
    ipv4->SetUp(index);
    const auto neighbours = ipv4->GetInterface(index)->GetArpCache();
    neighbours->SetAttribute("PendingQueueSize", ns3::UintegerValue(PENDING_PACKETS));
    // A neighbour that did not answer is asked again for the next packet, as by Linux; ns-3 would give it up for 100 s.
    neighbours->SetAttribute("DeadTimeout", ns3::TimeValue(ns3::NanoSeconds(1)));
    const auto isIpv6 = [](const Prefix& prefix) { return prefix.address.isIpv6; };
    if (std::ranges::none_of(interface.addresses, isIpv6))
    {
        return;
    }
    IpAddress linkLocal{.isIpv6 = true};
    ns3::Ipv6Address::MakeAutoconfiguredLinkLocalAddress(interface.mac).GetBytes(linkLocal.bytes.data());
    m_ingress.AddAddress({linkLocal, LINK_LOCAL_PREFIX});
    const auto ipv6 = m_node->GetObject<ns3::Ipv6L3Protocol>();
    const auto index6 = ipv6->AddInterface(device);
    ipv6->SetUp(index6);
    for (const auto& [address, length] : interface.addresses)
    {
        if (address.isIpv6)
        {
            ipv6->AddAddress(index6, {address.Ipv6(), ns3::Ipv6Prefix(static_cast<std::uint8_t>(length))});
        }
    }
    ipv6->GetInterface(index6)->GetNdiscCache()->SetAttribute("UnresolvedQueueSize",
                                                             ns3::UintegerValue(PENDING_PACKETS));
}

std::size_t Host::DeviceOf(StationId station) const
{
    return static_cast<std::size_t>(std::ranges::find(m_stations, station) - m_stations.begin());
}

void Host::SetCarrier(StationId station, bool carrier)
{
    const auto device = DeviceOf(station);
    if (m_carriers[device] == carrier)
    {
        return;
    }
    m_carriers[device] = carrier;
    m_devices[device]->SetCarrier(carrier);
    const auto ipv4 = m_node->GetObject<ns3::Ipv4L3Protocol>();
    const auto index = static_cast<std::uint32_t>(ipv4->GetInterfaceForDevice(m_devices[device]));
    carrier ? ipv4->SetUp(index) : ipv4->SetDown(index);
    ReplaceRoutes();
    if (m_ospf)
    {
        m_ospf->SetCarrier(device, carrier);
    }
}

void Host::Begin()
{
    if (m_management)
    {
        m_management->Begin();
    }
}

void Host::EndManagement()
{
    m_management.reset();
}

void Host::SetAccess(StationId station, middleware::Rate access)
{
    if (m_management)
    {
        m_management->SetAccess(m_devices[DeviceOf(station)], access);
    }
}

void Host::TakeTelemetry(StationId station, const LinkState& state)
{
    if (m_management)
    {
        m_management->TakeTelemetry(m_devices[DeviceOf(station)], state);
    }
    if (m_ospf)
    {
        m_ospf->TakeRate(DeviceOf(station), static_cast<double>(state.transmit));
    }
}

bool Host::SetCapacity(middleware::Rate capacity)
{
    return m_management && m_management->SetCapacity(capacity);
}

void Host::SendPacket(std::size_t device, ns3::Mac48Address to, Bytes packet)
{
    m_devices[device]->Send(
        ns3::Create<ns3::Packet>(packet.data(), static_cast<std::uint32_t>(packet.size())), to, ether_type::IPV4);
}

void Host::UseRoutes(const ospf::Routes& before, const ospf::Routes& routes)
{
    m_found = routes;
    ReplaceRoutes();
    const auto told = [this](const ospf::Network& network, const ospf::Route& route)
    {
        std::ostringstream destination;
        destination << ns3::Ipv4Address(network.address) << '/' << std::popcount(network.mask);
        std::ostringstream gateway;
        gateway << ns3::Ipv4Address(route.gateway);
        auto paths = Json::array({{{"gateway", gateway.str()}, {"interface", m_interfaces[route.interface]}}});
        return Json{{"destination", destination.str()}, {"paths", paths}};
    };
    for (const auto& [network, route] : before)
    {
        if (!routes.contains(network))
        {
            m_announcements.Announce("route_gone", std::nullopt, told(network, route));
        }
    }
    for (const auto& [network, route] : routes)
    {
        const auto known = before.find(network);
        if (known == before.end() || known->second.gateway != route.gateway)
        {
            m_announcements.Announce("route", std::nullopt, told(network, route));
        }
    }
}

void Host::ReplaceRoutes()
{
    const auto ipv4 =
        ns3::DynamicCast<ns3::Ipv4StaticRouting>(m_node->GetObject<ns3::Ipv4>()->GetRoutingProtocol());
    for (auto route = ipv4->GetNRoutes(); route-- > 0;)
    {
        if (ipv4->GetRoute(route).IsGateway())
        {
            ipv4->RemoveRoute(route);
        }
    }
    const auto ipv6 = m_hasIpv6 ? ns3::DynamicCast<ns3::Ipv6StaticRouting>(
                                      m_node->GetObject<ns3::Ipv6>()->GetRoutingProtocol())
                                : nullptr;
    for (auto route = ipv6 ? ipv6->GetNRoutes() : 0; route-- > 0;)
    {
        if (ipv6->GetRoute(route).IsGateway())
        {
            ipv6->RemoveRoute(route);
        }
    }
    std::set<ospf::Network> taken;
    for (const auto& route : m_given)
    {
        if (const auto device = InterfaceTowards(route.gateway); m_carriers[device])
        {
            AddRoute(route, device);
            if (!route.gateway.isIpv6)
            {
                const ospf::Id mask = MaskOf(route.destination.length);
                taken.insert({route.destination.address.Ipv4().Get() & mask, mask});
            }
        }
    }
    for (const auto& [network, route] : m_found)
    {
        // A route that was given is trusted more (FRRouting's administrative distances: 1 and 110).
        if (m_carriers[route.interface] && !taken.contains(network))
        {
            ipv4->AddNetworkRouteTo(ns3::Ipv4Address(network.address),
                                    ns3::Ipv4Mask(network.mask),
                                    ns3::Ipv4Address(route.gateway),
                                    static_cast<std::uint32_t>(
                                        m_node->GetObject<ns3::Ipv4>()->GetInterfaceForDevice(m_devices[route.interface])));
        }
    }
}

void Host::AddRoute(const RouteConfiguration& route, std::uint32_t number)
{
    const auto& [destination, gateway] = route;
    const auto device = m_devices[number];
    if (gateway.isIpv6)
    {
        const auto routing =
            ns3::DynamicCast<ns3::Ipv6StaticRouting>(m_node->GetObject<ns3::Ipv6>()->GetRoutingProtocol());
        const ns3::Ipv6Prefix prefix(static_cast<std::uint8_t>(destination.length));
        const auto index = m_node->GetObject<ns3::Ipv6>()->GetInterfaceForDevice(device);
        routing->AddNetworkRouteTo(destination.address.Ipv6().CombinePrefix(prefix), prefix, gateway.Ipv6(), index);
    }
    else
    {
        const auto routing =
            ns3::DynamicCast<ns3::Ipv4StaticRouting>(m_node->GetObject<ns3::Ipv4>()->GetRoutingProtocol());
        const ns3::Ipv4Mask mask(MaskOf(destination.length));
        const auto index = m_node->GetObject<ns3::Ipv4>()->GetInterfaceForDevice(device);
        routing->AddNetworkRouteTo(destination.address.Ipv4().CombineMask(mask), mask, gateway.Ipv4(), index);
    }
}

std::uint32_t Host::InterfaceTowards(const IpAddress& gateway) const
{
    for (std::uint32_t device = 0; device < m_addresses.size(); ++device)
    {
        if (std::ranges::any_of(m_addresses[device], [&](const auto& own) { return own.Contains(gateway); }))
        {
            return device;
        }
    }
    std::ostringstream text;
    gateway.isIpv6 ? text << gateway.Ipv6() : text << gateway.Ipv4();
    throw std::invalid_argument("hosts." + m_name + ".routes: gateway " + text.str() +
                                " is in none of the host's networks; give an interface an address in its network");
}

std::uint16_t Host::MtuTowards(const IpAddress& destination) const
{
    const auto device = DeviceTowards(destination);
    return device ? device->GetMtu() : m_devices.front()->GetMtu();
}

ns3::Ptr<ns3::NetDevice> Host::DeviceTowards(const IpAddress& destination) const
{
    return netboxit::DeviceTowards(m_node, destination);
}

ns3::Ptr<ns3::NetDevice> Host::DeviceNamed(const std::string& interface) const
{
    const auto found = std::ranges::find(m_interfaces, interface);
    return found == m_interfaces.end() ? nullptr : m_devices[static_cast<std::size_t>(found - m_interfaces.begin())];
}

std::vector<IpAddress> Host::Addresses() const
{
    std::vector<IpAddress> all;
    for (const auto& own : m_addresses)
    {
        std::ranges::transform(own, std::back_inserter(all), &Prefix::address);
    }
    return all;
}

std::optional<IpAddress> Host::SourceTowards(const IpAddress& destination) const
{
    IpAddress source{.isIpv6 = destination.isIpv6};
    if (const auto route = RouteTo6(m_node, destination); route)
    {
        route->GetSource().GetBytes(source.bytes.data());
        return source;
    }
    if (const auto route = RouteTo(m_node, destination); route)
    {
        route->GetSource().Serialize(source.bytes.data());
        return source;
    }
    return std::nullopt;
}

Json Host::Read() const
{
    Json read;
    read["forwarded"] = m_forwarded;
    read["malformed"] = m_drops.malformed;
    read["unsupported"] = m_drops.unsupported;
    if (m_ospf)
    {
        auto neighbours = Json::array();
        for (const auto& [device, router, state, bfd] : m_ospf->Neighbours())
        {
            std::ostringstream id;
            id << ns3::Ipv4Address(router);
            neighbours.push_back({{"interface", m_interfaces[device]},
                                  {"router", id.str()},
                                  {"state", NEIGHBOUR_STATES.at(static_cast<std::size_t>(state))},
                                  {"bfd_up", bfd}});
        }
        read["ospf"] = {{"neighbours", neighbours}, {"calculations", m_ospf->Calculations()}};
    }
    if (m_management)
    {
        read["management"] = m_management->Read();
    }
    return read;
}

void Host::Reset()
{
    m_forwarded = 0;
    m_drops = {};
}

void Host::Complete(const ns3::Ipv4Header& header, ns3::Ptr<const ns3::Packet>, std::uint32_t)
{
    m_ingress.Complete(header);
}

void Host::CountForwarded(const ns3::Ipv4Header&, ns3::Ptr<const ns3::Packet>, std::uint32_t)
{
    ++m_forwarded;
}

void Host::CountForwarded6(const ns3::Ipv6Header&, ns3::Ptr<const ns3::Packet>, std::uint32_t)
{
    ++m_forwarded;
}

} // namespace netboxit
