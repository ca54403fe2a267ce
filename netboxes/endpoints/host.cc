// SPDX-License-Identifier: GPL-2.0-or-later
#include "host.h"

#include "ns3/udp-socket-factory.h"
#include "ns3/inet6-socket-address.h"
#include "ns3/inet-socket-address.h"
#include "ns3/arp-cache.h"
#include "ns3/arp-l3-protocol.h"
#include "ns3/boolean.h"
#include "ns3/ipv4-interface.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/ipv4-route.h"
#include "ns3/ipv4-routing-table-entry.h"
#include "ns3/ipv4-static-routing.h"
#include "ns3/ipv6-extension-demux.h"
#include "ns3/ipv6-interface.h"
#include "ns3/ipv6-l3-protocol.h"
#include "ns3/ipv6-route.h"
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
#include <sstream>

namespace netboxit
{

namespace
{

/// Packets that wait for a neighbour's MAC address. Linux keeps 212 992 bytes (unres_qlen_bytes).
constexpr std::uint32_t PENDING_PACKETS = 140;

ns3::Ptr<ns3::RandomVariableStream> Zero()
{
    return ns3::CreateObject<ns3::ConstantRandomVariable>();
}

} // namespace

Host::Host(const HostConfiguration& configuration, Frames& frames, std::int64_t randomStream)
    : m_name(configuration.name), m_forwarding(configuration.forwarding),
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
        AddInterface(interface, frames);
    }
    if (m_hasIpv6 && !m_forwarding)
    {
        // An interface that does not forward yet asks for routers; until this event all of them do.
        const auto ipv6 = m_node->GetObject<ns3::Ipv6L3Protocol>();
        ns3::Simulator::ScheduleNow([ipv6] { ipv6->SetAttribute("IpForward", ns3::BooleanValue(false)); });
    }
    ReplaceRoutes(configuration.routes);
}

Host::~Host()
{
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
    ipv4->SetRoutingProtocol(ns3::CreateObject<ns3::Ipv4StaticRouting>());
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

void Host::AddInterface(const InterfaceConfiguration& interface, Frames& frames)
{
    const auto device =
        ns3::CreateObject<PortDevice>(interface.station, frames, interface.mac, interface.mtu, m_ingress);
    m_node->AddDevice(device);
    m_devices.push_back(device);
    m_stations.push_back(interface.station);
    m_addresses.push_back(interface.addresses);
    const auto ipv4 = m_node->GetObject<ns3::Ipv4L3Protocol>();
    const auto index = ipv4->AddInterface(device);
    for (const auto& own : interface.addresses)
    {
        const auto& [address, length] = own;
        m_ingress.AddAddress(own);
        if (!address.isIpv6)
        {
            const ns3::Ipv4Mask mask(length == 0 ? 0 : 0xffffffffu << (32 - length));
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

void Host::Receive(StationId station, Bytes frame)
{
    const auto found = std::ranges::find(m_stations, station);
    m_devices[static_cast<std::size_t>(found - m_stations.begin())]->Receive(frame);
}

void Host::ReplaceRoutes(const std::vector<RouteConfiguration>& routes)
{
    std::vector<std::uint32_t> interfaces;
    for (const auto& route : routes)
    {
        interfaces.push_back(InterfaceTowards(route.gateway));
    }
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
    for (std::size_t route = 0; route < routes.size(); ++route)
    {
        const auto& [destination, gateway] = routes[route];
        const auto device = m_devices[interfaces[route]];
        if (gateway.isIpv6)
        {
            const ns3::Ipv6Prefix prefix(static_cast<std::uint8_t>(destination.length));
            const auto index = m_node->GetObject<ns3::Ipv6>()->GetInterfaceForDevice(device);
            ipv6->AddNetworkRouteTo(destination.address.Ipv6().CombinePrefix(prefix), prefix, gateway.Ipv6(), index);
        }
        else
        {
            const ns3::Ipv4Mask mask(destination.length == 0 ? 0 : 0xffffffffu << (32 - destination.length));
            const auto index = m_node->GetObject<ns3::Ipv4>()->GetInterfaceForDevice(device);
            ipv4->AddNetworkRouteTo(destination.address.Ipv4().CombineMask(mask), mask, gateway.Ipv4(), index);
        }
    }
}

/// The device in whose network the gateway is.
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
    ns3::Socket::SocketErrno error{};
    if (destination.isIpv6 && m_hasIpv6)
    {
        ns3::Ipv6Header header;
        header.SetDestination(destination.Ipv6());
        const auto route = m_node->GetObject<ns3::Ipv6>()->GetRoutingProtocol()->RouteOutput(
            ns3::Create<ns3::Packet>(), header, nullptr, error);
        return route ? route->GetOutputDevice()->GetMtu() : m_devices.front()->GetMtu();
    }
    ns3::Ipv4Header header;
    header.SetDestination(destination.Ipv4());
    const auto route = m_node->GetObject<ns3::Ipv4>()->GetRoutingProtocol()->RouteOutput(
        ns3::Create<ns3::Packet>(), header, nullptr, error);
    return route ? route->GetOutputDevice()->GetMtu() : m_devices.front()->GetMtu();
}

Json Host::Read() const
{
    return {{"forwarded", m_forwarded},
            {"malformed", m_drops.malformed},
            {"unsupported", m_drops.unsupported}};
}

void Host::Reset()
{
    m_forwarded = 0;
    m_drops = {};
    for (const auto& device : m_devices)
    {
        device->Reset();
    }
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
