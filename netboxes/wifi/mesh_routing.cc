// SPDX-License-Identifier: GPL-2.0-or-later
#include "mesh_routing.h"

#include "ns3/mesh-point-device.h"

namespace netboxit
{

ns3::TypeId MeshRouting::GetTypeId()
{
    static const auto id =
        ns3::TypeId("netboxit::MeshRouting").SetParent<ns3::MeshL2RoutingProtocol>().AddConstructor<MeshRouting>();
    return id;
}

ns3::Ptr<MeshRouting> MeshRouting::Watch(const ns3::Ptr<ns3::MeshPointDevice>& point, Failed failed)
{
    auto watched = ns3::CreateObject<MeshRouting>();
    watched->m_routing = point->GetRoutingProtocol();
    watched->m_failed = std::move(failed);
    watched->SetMeshPoint(point);
    point->SetRoutingProtocol(watched);
    return watched;
}

bool MeshRouting::RequestRoute(std::uint32_t sourceInterface,
                               const ns3::Mac48Address source,
                               const ns3::Mac48Address destination,
                               ns3::Ptr<const ns3::Packet> packet,
                               std::uint16_t protocol,
                               RouteReplyCallback reply)
{
    m_reply = reply;
    const bool accepted = m_routing->RequestRoute(
        sourceInterface, source, destination, packet, protocol, ns3::MakeCallback(&MeshRouting::Reply, this));
    // A copy of a broadcast that a mesh point does not repeat is no loss.
    if (!accepted && m_failed && !destination.IsGroup())
    {
        m_failed(packet, sourceInterface == GetMeshPoint()->GetIfIndex() ? Failure::NoRoom : Failure::NoPath);
    }
    return accepted;
}

bool MeshRouting::RemoveRoutingStuff(std::uint32_t fromInterface,
                                     const ns3::Mac48Address source,
                                     const ns3::Mac48Address destination,
                                     ns3::Ptr<ns3::Packet> packet,
                                     std::uint16_t& protocol)
{
    return m_routing->RemoveRoutingStuff(fromInterface, source, destination, packet, protocol);
}

void MeshRouting::Reply(bool found,
                        ns3::Ptr<ns3::Packet> packet,
                        ns3::Mac48Address source,
                        ns3::Mac48Address destination,
                        std::uint16_t protocol,
                        std::uint32_t interface)
{
    if (!found && m_failed)
    {
        m_failed(packet, Failure::NoPath);
    }
    m_reply(found, packet, source, destination, protocol, interface);
}

void MeshRouting::DoDispose()
{
    m_reply.Nullify();
    m_routing = nullptr;
    ns3::MeshL2RoutingProtocol::DoDispose();
}

} // namespace netboxit
