// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "index_list.h"
#include "ip_address.h"
#include "keyed_slots.h"

#include <cstdint>
#include <optional>

namespace netboxit::stages
{

/// What a stage knows of nodes, each by its IP address, in the order in which they were seen. Each call takes constant time, and allocates
/// only for a number of nodes that there never was.
template <typename State>
class Nodes
{
  public:
    using Id = IndexList::Index; ///< below the capacity

    struct Node
    {
        IpAddress key{};
        std::int64_t seen{}; ///< ns
        State state{};
    };

    Nodes(Id capacity, const SipHashKey& seed)
        : m_slots(capacity, seed),
          m_byAge(capacity)
    {
    }

    Node& operator[](Id id)
    {
        return m_slots[id];
    }

    const Node& operator[](Id id) const
    {
        return m_slots[id];
    }

    bool IsFull() const
    {
        return m_slots.IsFull();
    }

    /// Of those that were seen and not forgotten.
    std::uint32_t Seen() const
    {
        return m_seen;
    }

    std::optional<Id> Find(const IpAddress& address) const
    {
        return m_slots.Find(address);
    }

    /// A node that is not in; it was not seen yet. Call where it is not full.
    Id Insert(const IpAddress& address)
    {
        return m_slots.Insert(address);
    }

    bool IsSeen(Id id) const
    {
        return m_byAge.Contains(id);
    }

    void See(Id id, std::int64_t now)
    {
        m_seen += IsSeen(id) ? 0 : 1;
        m_byAge.MoveToBack(id);
        m_slots[id].seen = now;
    }

    /// It stays in, as one that was not seen yet.
    void Forget(Id id)
    {
        m_seen -= IsSeen(id) ? 1 : 0;
        m_byAge.Remove(id);
    }

    void Remove(Id id)
    {
        Forget(id);
        m_slots.Remove(id);
    }

    /// The one that was silent for longest, of those that were seen.
    std::optional<Id> Oldest() const
    {
        return m_byAge.Front();
    }

    std::optional<Id> Newest() const
    {
        return m_byAge.Back();
    }

    std::optional<Id> NewerThan(Id id) const
    {
        return m_byAge.After(id);
    }

    std::optional<Id> OlderThan(Id id) const
    {
        return m_byAge.Before(id);
    }

  private:
    KeyedSlots<IpAddress, Node> m_slots;
    IndexList m_byAge;
    std::uint32_t m_seen{};
};

} // namespace netboxit::stages
