// SPDX-License-Identifier: GPL-2.0-or-later
#include "management_port.h"

#include "flow.h"

#include "ns3/inet-socket-address.h"
#include "ns3/inet6-socket-address.h"
#include "ns3/ipv4-route.h"
#include "ns3/ipv4.h"
#include "ns3/udp-l4-protocol.h"
#include "ns3/udp-socket-factory.h"

#include <algorithm>

namespace netboxit
{

namespace
{

/// DSCP CS6, of routing and other network control (RFC 4594, section 3.1): a full queue should not hold up what empties it.
constexpr std::uint8_t NETWORK_CONTROL = 48 << 2;
/// No router forwards it (RFC 1112, section 6.1).
constexpr std::uint8_t GROUP_TTL = 1;

middleware::Address AddressOf(const ns3::Address& address)
{
    if (ns3::Inet6SocketAddress::IsMatchingType(address))
    {
        const auto from = ns3::Inet6SocketAddress::ConvertFrom(address);
        middleware::Address made{.host = {}, .port = from.GetPort()};
        from.GetIpv6().GetBytes(made.host.data());
        return made;
    }
    const auto from = ns3::InetSocketAddress::ConvertFrom(address);
    return middleware::Ipv4Address(from.GetIpv4().Get(), from.GetPort());
}

} // namespace

ManagementPort::ManagementPort(Host& host, std::uint16_t port, Take take)
    : m_host(host), m_port(port), m_take(std::move(take))
{
    for (const auto& own : host.Addresses())
    {
        ListenAt(own);
        host.ListenAt(own.isIpv6, port);
    }
}

void ManagementPort::ListenAt(const IpAddress& address)
{
    const auto socket = ns3::Socket::CreateSocket(m_host.Node(), ns3::UdpSocketFactory::GetTypeId());
    if (socket->Bind(address.Socket(m_port)) != 0)
    {
        throw std::invalid_argument("host " + m_host.Name() + ": UDP port " + std::to_string(m_port) +
                                    " is the middleware's, and in use; have the other user choose another port");
    }
    SetTrafficClass(socket, address.isIpv6, NETWORK_CONTROL);
    socket->SetRecvCallback(ns3::MakeCallback(&ManagementPort::Receive, this));
    m_sockets[HostAddressOf(address)] = socket;
}

void ManagementPort::Join(const middleware::HostAddress& group)
{
    if (!m_sockets.contains(group))
    {
        ListenAt(IpAddressOf(group));
        m_host.JoinGroup(IpAddressOf(group));
    }
}

ManagementPort::~ManagementPort()
{
    for (const auto& [own, socket] : m_sockets)
    {
        socket->SetRecvCallback(ns3::MakeNullCallback<void, ns3::Ptr<ns3::Socket>>());
    }
}

void ManagementPort::Send(const middleware::HostAddress& own,
                          const middleware::Address& to,
                          std::span<const std::uint8_t> bytes)
{
    if (const auto found = m_sockets.find(own); found != m_sockets.end())
    {
        const auto packet = ns3::Create<ns3::Packet>(bytes.data(), static_cast<std::uint32_t>(bytes.size()));
        found->second->SendTo(packet, 0, IpAddressOf(to.host).Socket(to.port));
    }
}

/// Its own route says by which interface: routes of a socket are by destination.
void ManagementPort::SendToGroup(const middleware::HostAddress& own,
                                 const middleware::Address& group,
                                 std::span<const std::uint8_t> bytes)
{
    const auto ipv4 = m_host.Node()->GetObject<ns3::Ipv4>();
    const auto source = IpAddressOf(own).Ipv4();
    const auto destination = IpAddressOf(group.host).Ipv4();
    const auto interface = ipv4->GetInterfaceForAddress(source);
    if (interface < 0)
    {
        return;
    }
    const auto route = ns3::Create<ns3::Ipv4Route>();
    route->SetSource(source);
    route->SetDestination(destination);
    // ns-3 sends to that, and takes no route without one.
    route->SetGateway(destination);
    route->SetOutputDevice(ipv4->GetNetDevice(static_cast<std::uint32_t>(interface)));
    const auto packet = ns3::Create<ns3::Packet>(bytes.data(), static_cast<std::uint32_t>(bytes.size()));
    ns3::SocketIpTosTag trafficClass;
    trafficClass.SetTos(NETWORK_CONTROL);
    packet->AddPacketTag(trafficClass);
    ns3::SocketIpTtlTag lifetime;
    lifetime.SetTtl(GROUP_TTL);
    packet->AddPacketTag(lifetime);
    m_host.Node()->GetObject<ns3::UdpL4Protocol>()->Send(packet, source, destination, m_port, group.port, route);
}

void ManagementPort::Receive(ns3::Ptr<ns3::Socket> socket)
{
    const auto own = std::ranges::find(m_sockets, socket, [](const auto& entry) { return entry.second; });
    ns3::Address from;
    while (const auto packet = socket->RecvFrom(from))
    {
        std::vector<std::uint8_t> bytes(packet->GetSize());
        packet->CopyData(bytes.data(), packet->GetSize());
        m_take(bytes, AddressOf(from), own->first);
    }
}

} // namespace netboxit
