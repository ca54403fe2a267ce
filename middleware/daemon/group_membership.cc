// SPDX-License-Identifier: GPL-2.0-or-later
#include "group_membership.h"

namespace netboxit::middleware
{

GroupMembership::GroupMembership(const HostAddress& group, const HostAddress& allocator) : m_group(group), m_allocator(allocator)
{
}

void GroupMembership::Advance(UdpPort& port, Time now)
{
    m_error = port.Join(m_group, m_allocator);
    m_due = now + JOIN_AGAIN;
}

} // namespace netboxit::middleware
