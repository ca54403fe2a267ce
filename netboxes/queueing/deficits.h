// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "line_list.h"

#include <algorithm>

namespace netboxit::queueing
{

/// Lines that take turns by deficits, whichever list they are in (`Drr`; the lines of an aggregate of `Qfq`).
class Deficits
{
  public:
    explicit Deficits(std::size_t lines) : m_of(lines)
    {
    }

    void Begin(LineId line, std::uint32_t bytes)
    {
        m_of[line] = {0, bytes, false};
    }

    /// The line of the list that may send its first packet: it is the list's first one then. `quantum` tells of a line what each turn
    /// adds.
    template <typename Quantum>
    LineId Turn(LineList& list, LineNeighbours& neighbours, Quantum quantum)
    {
        for (;;)
        {
            const auto line = list.First();
            auto& of = m_of[line];
            if (!of.hasTurn)
            {
                of.deficit += quantum(line);
                of.hasTurn = true;
            }
            if (of.bytes <= of.deficit)
            {
                return line;
            }
            of.hasTurn = false;
            list.Rotate(neighbours);
        }
    }

    void Sent(LineId line, std::uint32_t bytes, std::uint32_t following)
    {
        m_of[line].deficit -= bytes;
        m_of[line].bytes = following;
    }

    /// What the line may still send in its turn is so much at most.
    void Limit(LineId line, std::uint64_t most)
    {
        m_of[line].deficit = std::min(m_of[line].deficit, most);
    }

    void Follows(LineId line, std::uint32_t following)
    {
        m_of[line].bytes = following;
    }

    /// Of its first packet.
    std::uint32_t Bytes(LineId line) const
    {
        return m_of[line].bytes;
    }

  private:
    struct State
    {
        std::uint64_t deficit{0};
        std::uint32_t bytes{0};
        bool hasTurn{false};
    };

    std::vector<State> m_of;
};

} // namespace netboxit::queueing
