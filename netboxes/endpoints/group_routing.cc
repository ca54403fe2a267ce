// SPDX-License-Identifier: GPL-2.0-or-later
#include "group_routing.h"

#include "ns3/ipv4.h"
#include "ns3/node.h"

namespace netboxit
{

ns3::TypeId GroupRouting::GetTypeId()
{
    static const ns3::TypeId id = ns3::TypeId("netboxit::GroupRouting").SetParent<ns3::Ipv4StaticRouting>();
    return id;
}

void GroupRouting::Join(ns3::Ipv4Address group)
{
    m_groups.insert(group);
}

bool GroupRouting::RouteInput(ns3::Ptr<const ns3::Packet> packet,
                              const ns3::Ipv4Header& header,
                              ns3::Ptr<const ns3::NetDevice> device,
                              const UnicastForwardCallback& forward,
                              const MulticastForwardCallback& forwardToGroup,
                              const LocalDeliverCallback& deliver,
                              const ErrorCallback& error)
{
    if (m_groups.contains(header.GetDestination()))
    {
        const auto interface = device->GetNode()->GetObject<ns3::Ipv4>()->GetInterfaceForDevice(device);
        deliver(packet, header, static_cast<std::uint32_t>(interface));
        return true;
    }
    return Ipv4StaticRouting::RouteInput(packet, header, device, forward, forwardToGroup, deliver, error);
}

} // namespace netboxit
