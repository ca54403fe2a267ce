// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "motion.h"
#include "plan.h"
#include "propagation.h"

#include "ns3/mesh-point-device.h"
#include "ns3/wifi-net-device.h"

namespace netboxit
{

/// What ns-3 has of a cell, all by StationId.
struct Cell
{
    std::vector<ns3::Ptr<ns3::WifiNetDevice>> devices;
    std::vector<ns3::Ptr<ns3::MeshPointDevice>> meshPoints; ///< on top of the devices of a mesh, else none
    std::vector<ns3::Ptr<Motion>> motions;
    ns3::Ptr<Propagation> propagation;

    /// What sends and receives frames.
    ns3::Ptr<ns3::NetDevice> Top(StationId id) const
    {
        return meshPoints.empty() ? ns3::Ptr<ns3::NetDevice>(devices[id]) : ns3::Ptr<ns3::NetDevice>(meshPoints[id]);
    }
};

/// Builds the cell's devices on one channel, with their random streams assigned.
Cell BuildCell(const CellPlan& plan);

void SetTxPower(const ns3::Ptr<ns3::WifiNetDevice>& device, double dBm);

} // namespace netboxit
