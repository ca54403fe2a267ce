// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "link_allocator.h"
#include "link_member.h"

#include "ns3/random-variable-stream.h"

#include <deque>

namespace netboxit
{

/// All parts of a host in the management of links: C2ML and DyBRA (middleware/README.md).
class Management
{
  public:
    /// Throws std::invalid_argument.
    Management(const std::vector<ManagementPart>& parts, Host& host, Announcements& announcements, std::int64_t randomStream);

    /// The network's time begins; may come again, and starts all parts anew then.
    void Begin();
    void SetAccess(const ns3::Ptr<ns3::NetDevice>& device, middleware::Rate access);
    void TakeTelemetry(const ns3::Ptr<ns3::NetDevice>& device, const LinkState& state);
    /// Of the links that the host is the allocator of, and whose rate no netbox tells. Returns whether there are any.
    bool SetCapacity(middleware::Rate capacity);
    Json Read() const;

  private:
    std::uint64_t Random();

    ns3::Ptr<ns3::UniformRandomVariable> m_random;
    std::optional<ManagementPort> m_allocatorPort;
    std::optional<ManagementPort> m_memberPort;
    std::deque<LinkAllocator> m_allocators;
    std::deque<LinkMember> m_members;
};

} // namespace netboxit
