// SPDX-License-Identifier: GPL-2.0-or-later
#include "mesh_point.h"

#include "queue_scheduler.h"
#include "rate_control.h"

#include "ns3/boolean.h"
#include "ns3/channel-access-manager.h"
#include "ns3/dot11s-installer.h"
#include "ns3/enum.h"
#include "ns3/hwmp-protocol.h"
#include "ns3/mesh-wifi-interface-mac.h"
#include "ns3/peer-management-protocol.h"
#include "ns3/pointer.h"
#include "ns3/qos-frame-exchange-manager.h"
#include "ns3/qos-txop.h"
#include "ns3/ssid.h"
#include "ns3/wifi-default-ack-manager.h"
#include "ns3/wifi-default-protection-manager.h"
#include "ns3/wifi-phy.h"

namespace netboxit
{

namespace
{

ns3::Ptr<ns3::MeshWifiInterfaceMac> MakeMac()
{
    ns3::ObjectFactory factory("ns3::MeshWifiInterfaceMac", "QosSupported", ns3::BooleanValue(true));
    for (const auto& [name, category] : {std::pair{"VO_Txop", ns3::AC_VO},
                                         std::pair{"VI_Txop", ns3::AC_VI},
                                         std::pair{"BE_Txop", ns3::AC_BE},
                                         std::pair{"BK_Txop", ns3::AC_BK}})
    {
        factory.Set(name,
                    ns3::PointerValue(ns3::CreateObjectWithAttributes<ns3::QosTxop>(
                        "AcIndex", ns3::EnumValue<ns3::AcIndex>(category))));
    }
    return factory.Create<ns3::MeshWifiInterfaceMac>();
}

} // namespace

/// By hand, because a mesh's MAC must have its scheduler before the rest of its configuration, which WifiHelper does not give it,
/// and ns-3's MeshHelper takes one that discards frames silently.
ns3::Ptr<ns3::WifiNetDevice> MakeMeshInterface(const CellPlan& plan,
                                               const ns3::Ptr<ns3::Node>& node,
                                               const ns3::WifiPhyHelper& phyHelper)
{
    auto device = ns3::CreateObject<ns3::WifiNetDevice>();
    node->AddDevice(device);
    const auto phy = phyHelper.Create(node, device).front();
    phy->ConfigureStandard(StandardOf(plan));
    device->SetPhy(phy);
    auto mac = MakeMac();
    mac->SetSsid(ns3::Ssid("netboxit"));
    mac->SetDevice(device);
    device->SetRemoteStationManager(RateControlOf(plan).Create<ns3::WifiRemoteStationManager>());
    mac->SetAddress(ns3::Mac48Address::Allocate());
    device->SetMac(mac);
    mac->SetMacQueueScheduler(ns3::CreateObject<QueueScheduler>());
    mac->SetChannelAccessManagers({ns3::CreateObject<ns3::ChannelAccessManager>()});
    auto exchange = ns3::CreateObject<ns3::QosFrameExchangeManager>();
    mac->SetFrameExchangeManagers({exchange});
    exchange->SetAddress(mac->GetAddress());
    auto protection = ns3::CreateObject<ns3::WifiDefaultProtectionManager>();
    protection->SetWifiMac(mac);
    exchange->SetProtectionManager(protection);
    auto acknowledgement = ns3::CreateObject<ns3::WifiDefaultAckManager>();
    acknowledgement->SetWifiMac(mac);
    exchange->SetAckManager(acknowledgement);
    return device;
}

ns3::Ptr<ns3::MeshPointDevice> MakeMeshPoint(const ns3::Ptr<ns3::WifiNetDevice>& device, std::int64_t stream)
{
    auto point = ns3::CreateObject<ns3::MeshPointDevice>();
    device->GetNode()->AddDevice(point);
    point->AddInterface(device);
    ns3::CreateObject<ns3::Dot11sStack>()->InstallStack(point);
    stream += point->AssignStreams(stream);
    stream += device->GetMac()->AssignStreams(stream);
    stream += ns3::DynamicCast<ns3::dot11s::HwmpProtocol>(point->GetRoutingProtocol())->AssignStreams(stream);
    point->GetObject<ns3::dot11s::PeerManagementProtocol>()->AssignStreams(stream);
    return point;
}

} // namespace netboxit
