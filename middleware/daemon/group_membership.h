// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "rate.h"
#include "udp_port.h"

#include <string>

namespace netboxit::middleware
{

/// Keeps a port of UDP in the group to which an allocator sends its announcements, also where the interface towards it is
/// replaced, or has its address later. Without the group a member learns of changes with its next grant.
class GroupMembership
{
  public:
    GroupMembership(const HostAddress& group, const HostAddress& allocator);

    /// When it is to be looked after next.
    Time Due() const
    {
        return m_due;
    }

    void Advance(UdpPort& port, Time now);

    /// Why it is not in the group; empty where it is.
    const std::string& Error() const
    {
        return m_error;
    }

    const HostAddress& Group() const
    {
        return m_group;
    }

  private:
    /// Nothing tells that an interface is another one. Our own choice.
    static constexpr Time JOIN_AGAIN = 5 * SECOND;

    HostAddress m_group;
    HostAddress m_allocator;
    Time m_due{};
    std::string m_error;
};

} // namespace netboxit::middleware
