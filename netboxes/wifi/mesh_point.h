// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "plan.h"

#include "ns3/mesh-point-device.h"
#include "ns3/node.h"
#include "ns3/wifi-helper.h"
#include "ns3/wifi-net-device.h"

namespace netboxit
{

/// The Wi-Fi device of a mesh point.
ns3::Ptr<ns3::WifiNetDevice> MakeMeshInterface(const CellPlan& plan,
                                               const ns3::Ptr<ns3::Node>& node,
                                               const ns3::WifiPhyHelper& phy);

/// The mesh point above a device, with its peering and HWMP.
ns3::Ptr<ns3::MeshPointDevice> MakeMeshPoint(const ns3::Ptr<ns3::WifiNetDevice>& device, std::int64_t stream);

} // namespace netboxit
