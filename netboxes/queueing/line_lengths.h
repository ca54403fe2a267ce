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

    /// A packet more: it has so many now.
    void Grow(LineId line, std::size_t length);
    /// A packet less: it has so many now.
    void Shrink(LineId line, std::size_t length);
    /// The longest, of equals the one that is so for the longest time. One has something.
    LineId Longest() const;

  private:
    void Move(LineId line, std::size_t before, std::size_t length);

    LineNeighbours m_neighbours;
    std::vector<LineList> m_ofLength;
    std::size_t m_most{0};
};

} // namespace netboxit::queueing
