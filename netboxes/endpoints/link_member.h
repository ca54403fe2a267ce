// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "management_port.h"
#include "timer.h"

#include "../../middleware/part_configuration.h"

namespace netboxit
{

/// A host's membership in a managed link: gives the library (middleware/README.md) datagrams, a clock and random numbers, and
/// has the host's connections keep to the budget.
class LinkMember
{
  public:
    /// Throws std::invalid_argument for what no host here can do.
    LinkMember(const std::string& name,
               const middleware::MemberPart& part,
               bool whileSending,
               Host& host,
               ManagementPort& port,
               Announcements& announcements,
               middleware::Member::Random random);
    ~LinkMember();
    LinkMember(const LinkMember&) = delete;
    LinkMember& operator=(const LinkMember&) = delete;

    std::uint32_t Domain() const
    {
        return m_part.settings.domain;
    }

    /// Its access is as the netbox at its interface tells.
    bool FollowsTelemetry() const
    {
        return m_part.telemetry;
    }

    /// The network's time begins: it joins, or does so when a connection begins to send.
    void Begin();
    void Receive(std::span<const std::uint8_t> bytes, const middleware::Address& from);
    /// The rate that the access by this interface allows, bit/s. Of no interest where the link is reached by
    /// another interface.
    void SetAccess(const ns3::Ptr<ns3::NetDevice>& device, middleware::Rate access);
    Json Read() const;

  private:
    /// Joins when the host's first connection begins to send over the link, and leaves when the last one has ended: CLIENT_HELLO
    /// and CLIENT_BYE of C2ML (C. A. Grazia, dissertation, section 2.2.3.2).
    void FollowConnections();
    /// By which packets to the link leave; none without a route.
    ns3::Ptr<ns3::NetDevice> Device() const;
    SendingBudgets::Way Way() const;
    /// After each call to the member: what it has to say, what applies now, and when it is next to be called.
    void Settle();
    void Tell(const middleware::Member::Event& event);

    std::string m_name;
    middleware::MemberPart m_part;
    bool m_whileSending;
    IpAddress m_allocator;
    Host& m_host;
    ManagementPort& m_port;
    Announcements& m_announcements;
    middleware::Member::Random m_random;
    std::optional<middleware::Member> m_member; ///< nothing before the network's time
    bool m_isUsed{false};                       ///< a connection of the host sends over the link
    Timer m_due;
};

} // namespace netboxit
