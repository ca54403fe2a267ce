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
        : end(capacity),
          links(capacity + std::size_t{1}, {OUTSIDE, OUTSIDE})
    {
        links[end] = {end, end};
    }

    bool Contains(Index index) const
    {
        return links[index].next != OUTSIDE;
    }

    std::optional<Index> Front() const
    {
        return links[end].next == end ? std::nullopt : std::optional(links[end].next);
    }

    /// The one behind; nothing behind the last.
    std::optional<Index> After(Index index) const
    {
        return links[index].next == end ? std::nullopt : std::optional(links[index].next);
    }

    /// Puts the index behind all others; it may be in the list before.
    void MoveToBack(Index index)
    {
        Remove(index);
        const auto last = links[end].previous;
        links[index] = {last, end};
        links[last].next = links[end].previous = index;
    }

    /// Nothing happens where the index is not in the list.
    void Remove(Index index)
    {
        if (!Contains(index))
        {
            return;
        }
        const auto link = links[index];
        links[link.previous].next = link.next;
        links[link.next].previous = link.previous;
        links[index] = {OUTSIDE, OUTSIDE};
    }

  private:
    struct Link
    {
        Index previous;
        Index next;
    };

    static constexpr Index OUTSIDE = 0xffffffff;
    Index end;               ///< before the first and behind the last
    std::vector<Link> links;
};

} // namespace netboxit::stages
