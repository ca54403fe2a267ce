// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace netboxit::queueing
{

/// Places for what is told apart by a hash, in sets of eight: a hash belongs to one set, and has any place there that is free
/// (Høiland-Jørgensen, Täht and Morton, "Piece of CAKE", 2018). So two share a place only where a set has nine at a time. By the hash alone
/// two of 38 share one of 1024 places half of the time.
class SetAssociative
{
  public:
    /// At least one; of more than eight places the greatest multiple of eight is used.
    explicit SetAssociative(std::size_t places) : m_ways(std::min(places, WAYS)), m_sets(places / m_ways), m_hashes(m_sets * m_ways, 0)
    {
    }

    std::size_t Places() const
    {
        return m_hashes.size();
    }

    /// The place of `hash`. `isFree` tells of a place whether nobody has it now; a place is kept in mind until another hash takes it.
    template <typename IsFree>
    std::uint32_t Find(std::uint32_t hash, IsFree isFree)
    {
        const auto first = hash % m_sets * m_ways;
        const auto direct = hash / m_sets % m_ways;
        std::size_t free = m_ways;
        for (std::size_t step = 0; step < m_ways; ++step)
        {
            const auto way = (direct + step) % m_ways;
            const auto place = static_cast<std::uint32_t>(first + way);
            if (m_hashes[place] == hash)
            {
                return place;
            }
            if (free == m_ways && isFree(place))
            {
                free = way;
            }
        }
        if (free == m_ways)
        {
            ++m_collisions;
            return static_cast<std::uint32_t>(first + direct);
        }
        m_hashes[first + free] = hash;
        return static_cast<std::uint32_t>(first + free);
    }

    /// How often something had to share the place of another one.
    std::uint64_t Collisions() const
    {
        return m_collisions;
    }

    void ResetStatistics()
    {
        m_collisions = 0;
    }

  private:
    static constexpr std::size_t WAYS = 8;

    std::size_t m_ways;
    std::size_t m_sets;
    std::vector<std::uint32_t> m_hashes; ///< by place, of who has it or had it last
    std::uint64_t m_collisions{0};
};

} // namespace netboxit::queueing
