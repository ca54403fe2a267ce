// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "management_port.h"
#include "timer.h"

#include "../../middleware/part_configuration.h"

namespace netboxit
{

/// A host's allocator of a managed link: gives the library (middleware/README.md) datagrams, a clock and random numbers.
class LinkAllocator
{
  public:
    LinkAllocator(std::string name,
                  const middleware::AllocatorPart& part,
                  const Host& host,
                  ManagementPort& port,
                  Announcements& announcements,
                  middleware::Member::Random random);

    std::uint32_t Domain() const
    {
        return m_settings.domain;
    }

    /// The network's time begins: an allocator without members.
    void Begin();
    /// A datagram came from `from` to the host's address `own`.
    void Receive(std::span<const std::uint8_t> bytes,
                 const middleware::Address& from,
                 const middleware::HostAddress& own);
    void SetCapacity(middleware::Rate capacity);
    Json Read() const;

  private:
    /// After each call to the allocator: what it has to say, and when it is next to be called.
    void Settle();

    std::string m_name;
    std::string m_host;
    middleware::Allocator::Settings m_settings;
    ManagementPort& m_port;
    Announcements& m_announcements;
    middleware::Member::Random m_random;
    std::optional<middleware::Allocator> m_allocator; ///< nothing before the network's time
    std::uint64_t m_epoch{0};                         ///< that the journal has
    Timer m_due;
};

} // namespace netboxit
