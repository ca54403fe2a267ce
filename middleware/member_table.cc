// SPDX-License-Identifier: GPL-2.0-or-later
#include "member_table.h"

namespace netboxit::middleware
{

MemberTable::Entry* MemberTable::Find(const Address& address)
{
    const auto found = m_entries.find(address);
    return found == m_entries.end() ? nullptr : &found->second;
}

MemberTable::Entry& MemberTable::Insert(const Address& address)
{
    ++m_hosts[address.host];
    return m_entries.emplace(address, Entry{}).first->second;
}

void MemberTable::Erase(const Address& address)
{
    const auto entry = m_entries.find(address);
    m_dues.erase({entry->second.due, address});
    m_entries.erase(entry);
    const auto host = m_hosts.find(address.host);
    if (--host->second == 0)
    {
        m_hosts.erase(host);
    }
}

void MemberTable::LookAt(const Address& address, Entry& entry, Time due)
{
    m_dues.erase({entry.due, address});
    entry.due = due;
    m_dues.emplace(due, address);
}

Time MemberTable::Due() const
{
    return m_dues.empty() ? NEVER : m_dues.begin()->first;
}

std::uint32_t MemberTable::OfHost(const HostAddress& host) const
{
    const auto found = m_hosts.find(host);
    return found == m_hosts.end() ? 0 : found->second;
}

} // namespace netboxit::middleware
