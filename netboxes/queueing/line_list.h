// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "scheduler.h"

namespace netboxit::queueing
{

/// No line.
constexpr LineId NO_LINE = ~LineId{};

/// For each line which ones are before and behind it, in whichever list it is.
class LineNeighbours
{
  public:
    explicit LineNeighbours(std::size_t lines) : m_of(lines)
    {
    }

  private:
    friend class LineList;

    struct Neighbours
    {
        LineId before{NO_LINE};
        LineId behind{NO_LINE};
    };

    std::vector<Neighbours> m_of;
};

/// Lines in an order. Each is in one list at most of those that share their neighbours; nothing is allocated.
class LineList
{
  public:
    bool IsEmpty() const
    {
        return m_first == NO_LINE;
    }

    LineId First() const
    {
        return m_first;
    }

    /// The one behind a line of a list; NO_LINE behind the last one.
    static LineId Behind(LineId line, const LineNeighbours& neighbours)
    {
        return neighbours.m_of[line].behind;
    }

    void Append(LineId line, LineNeighbours& neighbours)
    {
        neighbours.m_of[line] = {m_last, NO_LINE};
        (m_last == NO_LINE ? m_first : neighbours.m_of[m_last].behind) = line;
        m_last = line;
    }

    void Remove(LineId line, LineNeighbours& neighbours)
    {
        const auto [before, behind] = neighbours.m_of[line];
        (before == NO_LINE ? m_first : neighbours.m_of[before].behind) = behind;
        (behind == NO_LINE ? m_last : neighbours.m_of[behind].before) = before;
    }

    /// The first one becomes the last.
    void Rotate(LineNeighbours& neighbours)
    {
        const auto line = m_first;
        Remove(line, neighbours);
        Append(line, neighbours);
    }

  private:
    LineId m_first{NO_LINE};
    LineId m_last{NO_LINE};
};

} // namespace netboxit::queueing
