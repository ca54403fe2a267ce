// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "attenuation.h"
#include "plan.h"

#include "../mobility/motion.h"

#include "ns3/lte-enb-net-device.h"
#include "ns3/lte-helper.h"
#include "ns3/lte-ue-net-device.h"
#include "ns3/virtual-net-device.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace netboxit
{

/// The ns-3 network of one segment: E-UTRAN and EPC (TS 36.300, TS 23.401).
struct LteNetwork
{
    ns3::Ptr<ns3::LteHelper> helper;
    /// Where packets leave the PGW for the network behind it and come back (SGi). Nothing is attached there but the segment.
    ns3::Ptr<ns3::VirtualNetDevice> sgi;
    std::vector<ns3::Ptr<ns3::LteEnbNetDevice>> enodebs;
    std::vector<ns3::Ptr<ns3::LteUeNetDevice>> terminals; ///< by StationId, null for the gateway
    std::vector<ns3::Ipv4Address> addresses;              ///< by StationId; the gateway's is the remote host's
    std::vector<ns3::Ptr<Motion>> motions;                ///< by StationId, null for the gateway
    std::vector<ns3::Ptr<ns3::MobilityModel>> sites;      ///< where eNodeBs stand, in their order
    ns3::Ptr<Attenuation> attenuation;

    /// The index of the eNodeB whose cell has this id in ns-3; nothing for 0, which is no cell, and for cells of other networks. Ids are
    /// unique in the process: ns-3's RRC looks for them among all nodes that there are.
    std::optional<std::size_t> IndexOf(std::uint16_t cell) const;
};

/// What a broadcast is addressed to on its way to the core.
ns3::Ipv4Address Everyone();

LteNetwork BuildNetwork(const LtePlan& plan);

/// Where a UE stands that says nothing but its distance: around the first eNodeB at equal angles, its antenna at its own height.
ns3::Vector PlaceAround(const LtePlan& plan, StationId id, double distance);

void SetTxPower(const ns3::Ptr<ns3::LteEnbNetDevice>& enodeb, double dBm);
void SetTxPower(const ns3::Ptr<ns3::LteUeNetDevice>& terminal, double dBm);

} // namespace netboxit
