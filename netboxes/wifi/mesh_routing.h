// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "ns3/mesh-l2-routing-protocol.h"

#include <functional>

namespace netboxit
{

/// A mesh point's HWMP, watched: ns-3 discards frames silently for which it finds no path.
class MeshRouting : public ns3::MeshL2RoutingProtocol
{
  public:
    enum class Failure
    {
        NoRoom, ///< too many frames wait for paths already
        NoPath, ///< nobody answered, a path broke on the way, or the frame was too old
    };
    using Failed = std::function<void(const ns3::Ptr<const ns3::Packet>& packet, Failure failure)>;

    static ns3::TypeId GetTypeId();

    /// Takes the place of the mesh point's routing protocol, and asks that one.
    static ns3::Ptr<MeshRouting> Watch(const ns3::Ptr<ns3::MeshPointDevice>& point, Failed failed);

    /// Tells nobody any more.
    void Forget()
    {
        m_failed = nullptr;
    }

  private:
    bool RequestRoute(std::uint32_t sourceInterface,
                      const ns3::Mac48Address source,
                      const ns3::Mac48Address destination,
                      ns3::Ptr<const ns3::Packet> packet,
                      std::uint16_t protocol,
                      RouteReplyCallback reply) override;
    bool RemoveRoutingStuff(std::uint32_t fromInterface,
                            const ns3::Mac48Address source,
                            const ns3::Mac48Address destination,
                            ns3::Ptr<ns3::Packet> packet,
                            std::uint16_t& protocol) override;
    void DoDispose() override;
    void Reply(bool found,
               ns3::Ptr<ns3::Packet> packet,
               ns3::Mac48Address source,
               ns3::Mac48Address destination,
               std::uint16_t protocol,
               std::uint32_t interface);

    ns3::Ptr<ns3::MeshL2RoutingProtocol> m_routing;
    RouteReplyCallback m_reply; ///< the mesh point's, always the same
    Failed m_failed;
};

} // namespace netboxit
