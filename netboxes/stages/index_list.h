// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace netboxit::stages
{

/// A list of the indices of an array's elements, each at most once, that allocates nothing after its construction. All calls take constant
/// time.
class IndexList
{
  public:
    using Index = std::uint32_t;

    /// For indices below `capacity`, which is below 2^32 - 1.
    explicit IndexList(Index capacity)
        : m_end(capacity),
          m_links(capacity + std::size_t{1}, {OUTSIDE, OUTSIDE})
    {
        m_links[m_end] = {m_end, m_end};
    }

    bool Contains(Index index) const
    {
        return m_links[index].next != OUTSIDE;
    }

    std::optional<Index> Front() const
    {
        return m_links[m_end].next == m_end ? std::nullopt : std::optional(m_links[m_end].next);
    }

    /// The one behind; nothing behind the last.
    std::optional<Index> After(Index index) const
    {
        return m_links[index].next == m_end ? std::nullopt : std::optional(m_links[index].next);
    }

    std::optional<Index> Back() const
    {
        return m_links[m_end].previous == m_end ? std::nullopt : std::optional(m_links[m_end].previous);
    }

    /// The one before; nothing before the first.
    std::optional<Index> Before(Index index) const
    {
        return m_links[index].previous == m_end ? std::nullopt : std::optional(m_links[index].previous);
    }

    /// Puts the index behind all others; it may be in the list before.
    void MoveToBack(Index index)
    {
        Remove(index);
        const auto last = m_links[m_end].previous;
        m_links[index] = {last, m_end};
        m_links[last].next = m_links[m_end].previous = index;
    }

    /// Nothing happens where the index is not in the list.
    void Remove(Index index)
    {
        if (!Contains(index))
        {
            return;
        }
        const auto link = m_links[index];
        m_links[link.previous].next = link.next;
        m_links[link.next].previous = link.previous;
        m_links[index] = {OUTSIDE, OUTSIDE};
    }

  private:
    struct Link
    {
        Index previous;
        Index next;
    };

    static constexpr Index OUTSIDE = 0xffffffff;
    Index m_end;               ///< before the first and behind the last
    std::vector<Link> m_links;
};

} // namespace netboxit::stages
