// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "addresses.h"

#include "ns3/ipv4-route.h"
#include "ns3/ipv6-route.h"
#include "ns3/node.h"

namespace netboxit
{

/// How packets of a node to `destination` leave it. None: there is no route, or the destination is of the other version of IP.
ns3::Ptr<ns3::Ipv4Route> RouteTo(const ns3::Ptr<ns3::Node>& node, const IpAddress& destination);
ns3::Ptr<ns3::Ipv6Route> RouteTo6(const ns3::Ptr<ns3::Node>& node, const IpAddress& destination);
/// The interface by which they leave; none without a route.
ns3::Ptr<ns3::NetDevice> DeviceTowards(const ns3::Ptr<ns3::Node>& node, const IpAddress& destination);

} // namespace netboxit
