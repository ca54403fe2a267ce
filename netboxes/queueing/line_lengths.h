// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "line_list.h"

namespace netboxit::queueing
{

/// Lines by their packets, so that the longest is found at once: a list for each length.
class LineLengths
{
  public:
    explicit LineLengths(std::size_t lines);

    /// A packet more.
    void Grow(LineId line);
    /// A packet less.
    void Shrink(LineId line);
    /// The longest, of equals the one that is so for the longest time. One has something.
    LineId Longest() const;

  private:
    void Move(LineId line, std::uint32_t length);

    std::vector<std::uint32_t> m_lengths; ///< by line
    LineNeighbours m_neighbours;
    std::vector<LineList> m_ofLength;
    std::uint32_t m_most{0};
};

} // namespace netboxit::queueing
