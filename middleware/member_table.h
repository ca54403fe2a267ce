// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "address.h"
#include "dybra.h"

#include <map>
#include <optional>
#include <set>

namespace netboxit::middleware
{

/// Members by their addresses, with the times at which their leases have to be looked at. Calls take logarithmic time, whatever addresses a
/// stranger chooses.
class MemberTable
{
  public:
    struct Entry
    {
        std::uint64_t session{};
        std::uint32_t sequence{}; ///< of the last message that was accepted
        HostAddress asked{};      ///< to which address of the allocator it came
        DybraState state{};
        Time refreshed{};
        std::optional<std::uint32_t> claim{}; ///< how many shared the link when the member last heard of a former instance
        bool isWaiting{};                     ///< for an answer with the next change
        Time due{};                           ///< the table's own
    };

    Entry* Find(const Address& address);
    /// The address is in no entry yet.
    Entry& Insert(const Address& address);
    /// The address is in an entry.
    void Erase(const Address& address);

    /// The lease is to be looked at then. Not before the first call the entry has no such time.
    void LookAt(const Address& address, Entry& entry, Time due);
    /// When the first is to be looked at; NEVER without any.
    Time Due() const;
    /// Which one that is. Only while Due() is not NEVER.
    const Address& First() const
    {
        return m_dues.begin()->second;
    }

    std::uint32_t Size() const
    {
        return static_cast<std::uint32_t>(m_entries.size());
    }

    /// Members with this host's address.
    std::uint32_t OfHost(const HostAddress& host) const;

    const std::map<Address, Entry>& All() const
    {
        return m_entries;
    }

  private:
    std::map<Address, Entry> m_entries;
    std::map<HostAddress, std::uint32_t> m_hosts;
    std::set<std::pair<Time, Address>> m_dues;
};

} // namespace netboxit::middleware
