// SPDX-License-Identifier: GPL-2.0-or-later
#include "routing.h"

#include "ns3/ipv4.h"
#include "ns3/ipv4-routing-protocol.h"
#include "ns3/ipv6.h"
#include "ns3/ipv6-routing-protocol.h"
#include "ns3/packet.h"

namespace netboxit
{

ns3::Ptr<ns3::Ipv4Route> RouteTo(const ns3::Ptr<ns3::Node>& node, const IpAddress& destination)
{
    if (destination.isIpv6)
    {
        return nullptr;
    }
    ns3::Socket::SocketErrno error{};
    ns3::Ipv4Header header;
    header.SetDestination(destination.Ipv4());
    return node->GetObject<ns3::Ipv4>()->GetRoutingProtocol()->RouteOutput(
        ns3::Create<ns3::Packet>(), header, nullptr, error);
}

ns3::Ptr<ns3::Ipv6Route> RouteTo6(const ns3::Ptr<ns3::Node>& node, const IpAddress& destination)
{
    const auto ipv6 = node->GetObject<ns3::Ipv6>();
    if (!destination.isIpv6 || !ipv6)
    {
        return nullptr;
    }
    ns3::Socket::SocketErrno error{};
    ns3::Ipv6Header header;
    header.SetDestination(destination.Ipv6());
    return ipv6->GetRoutingProtocol()->RouteOutput(ns3::Create<ns3::Packet>(), header, nullptr, error);
}

ns3::Ptr<ns3::NetDevice> DeviceTowards(const ns3::Ptr<ns3::Node>& node, const IpAddress& destination)
{
    if (const auto route = RouteTo6(node, destination); route)
    {
        return route->GetOutputDevice();
    }
    const auto route = RouteTo(node, destination);
    return route ? route->GetOutputDevice() : nullptr;
}

} // namespace netboxit
