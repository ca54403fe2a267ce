// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "management_port.h"
#include "timer.h"

#include "../../middleware/part_configuration.h"
#include "../engine/link_state.h"

namespace netboxit
{

/// A host's allocator of a managed link: gives the library (middleware/README.md) datagrams, a clock and random numbers.
class LinkAllocator
{
  public:
    LinkAllocator(std::string name,
                  const middleware::AllocatorPart& part,
                  Host& host,
                  ManagementPort& port,
                  Announcements& announcements,
                  middleware::Member::Random random);

    std::uint32_t Domain() const
    {
        return m_settings.domain;
    }

    /// What it divides is what the netbox at an interface tells.
    bool FollowsTelemetry() const
    {
        return m_follows.has_value();
    }

    /// The network's time begins: an allocator without members, at once or as soon as a netbox has told what it divides.
    void Begin();
    /// A datagram came from `from` to the host's address `own`.
    void Receive(std::span<const std::uint8_t> bytes,
                 const middleware::Address& from,
                 const middleware::HostAddress& own);
    void SetCapacity(middleware::Rate capacity);
    /// What a netbox tells of the link at this interface.
    void TakeTelemetry(const ns3::Ptr<ns3::NetDevice>& device, const LinkState& state);
    Json Read() const;

  private:
    void Open();
    /// After each call to the allocator: what it has to say, and when it is next to be called.
    void Settle();

    std::string m_name;
    Host& m_host;
    middleware::Allocator::Settings m_settings;
    std::optional<middleware::FollowedLink> m_follows;
    std::optional<middleware::AnnouncingGroup> m_group;
    ManagementPort& m_port;
    Announcements& m_announcements;
    middleware::Member::Random m_random;
    std::optional<middleware::Allocator> m_allocator; ///< nothing before the network's time, and before a rate is known
    bool m_hasBegun{false};
    std::uint64_t m_epoch{0};                         ///< that the journal has
    Timer m_due;
};

} // namespace netboxit
