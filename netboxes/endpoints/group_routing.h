// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "ns3/ipv4-static-routing.h"

#include <set>

namespace netboxit
{

/// ns-3's static routing, which also takes what is sent to the multicast groups that the host is in (RFC 1112, section 7.2).
class GroupRouting : public ns3::Ipv4StaticRouting
{
  public:
    static ns3::TypeId GetTypeId();

    void Join(ns3::Ipv4Address group);

    bool RouteInput(ns3::Ptr<const ns3::Packet> packet,
                    const ns3::Ipv4Header& header,
                    ns3::Ptr<const ns3::NetDevice> device,
                    const UnicastForwardCallback& forward,
                    const MulticastForwardCallback& forwardToGroup,
                    const LocalDeliverCallback& deliver,
                    const ErrorCallback& error) override;

  private:
    std::set<ns3::Ipv4Address> m_groups;
};

} // namespace netboxit
