// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "index_list.h"
#include "sip_hash.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace netboxit::stages
{

/// A hash table of at most so many values, in slots whose numbers stay. Each call takes constant time, and only a number of values that there
/// never was allocates. A value has its key as `key`; a key has `AddTo(SipHash&)`.
template <typename Key, typename Value>
class KeyedSlots
{
  public:
    using Id = IndexList::Index; ///< below the capacity

    /// Nothing but the time of calls depends on `seed`.
    KeyedSlots(Id capacity, const SipHashKey& seed)
        : m_capacity(capacity),
          m_seed(seed),
          m_buckets(std::size_t{capacity} * 2, NONE)
    {
        m_slots.reserve(capacity);
        m_unused.reserve(capacity);
    }

    Value& operator[](Id id)
    {
        return m_slots[id].value;
    }

    const Value& operator[](Id id) const
    {
        return m_slots[id].value;
    }

    bool IsFull() const
    {
        return m_slots.size() == m_capacity && m_unused.empty();
    }

    std::optional<Id> Find(const Key& key) const
    {
        return Find(key, [](Id) {});
    }

    /// Calls `fetch` with the number of each value that may be the one, before it reads that value: what belongs to it elsewhere can be fetched
    /// from memory at the same time.
    template <typename Fetch>
    std::optional<Id> Find(const Key& key, const Fetch& fetch) const
    {
        for (auto id = m_buckets[BucketOf(key)]; id != NONE; id = m_slots[id].nextInBucket)
        {
            fetch(id);
            if (m_slots[id].value.key == key)
            {
                return id;
            }
        }
        return std::nullopt;
    }

    /// A new value, of a key that has none. Call where it is not full.
    Id Insert(const Key& key)
    {
        Id id = static_cast<Id>(m_slots.size());
        if (m_unused.empty())
        {
            m_slots.emplace_back();
        }
        else
        {
            id = m_unused.back();
            m_unused.pop_back();
        }
        auto& bucket = m_buckets[BucketOf(key)];
        m_slots[id].value = Value{};
        m_slots[id].value.key = key;
        m_slots[id].nextInBucket = bucket;
        bucket = id;
        return id;
    }

    void Remove(Id id)
    {
        auto* link = &m_buckets[BucketOf(m_slots[id].value.key)];
        while (*link != id)
        {
            link = &m_slots[*link].nextInBucket;
        }
        *link = m_slots[id].nextInBucket;
        m_unused.push_back(id);
    }

  private:
    /// On cache lines of its own, two, as processors fetch lines in pairs: of many slots each access is a miss.
    struct alignas(128) Slot
    {
        Value value{};
        Id nextInBucket{};
    };

    static constexpr Id NONE = 0xffffffff;

    std::size_t BucketOf(const Key& key) const
    {
        SipHash hash(m_seed);
        key.AddTo(hash);
        return hash.Finish() % m_buckets.size();
    }

    Id m_capacity;
    SipHashKey m_seed;
    std::vector<Slot> m_slots; ///< as many as there were at once
    std::vector<Id> m_unused;  ///< of them
    std::vector<Id> m_buckets;
};

} // namespace netboxit::stages
