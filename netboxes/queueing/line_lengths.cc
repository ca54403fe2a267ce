// SPDX-License-Identifier: GPL-2.0-or-later
#include "line_lengths.h"

#include <algorithm>

namespace netboxit::queueing
{

LineLengths::LineLengths(std::size_t lines) : m_neighbours(lines), m_ofLength(2)
{
}

void LineLengths::Grow(LineId line, std::size_t length)
{
    if (length == m_ofLength.size())
    {
        m_ofLength.resize(2 * m_ofLength.size());
    }
    Move(line, length - 1, length);
    m_most = std::max(m_most, length);
}

void LineLengths::Shrink(LineId line, std::size_t length)
{
    Move(line, length + 1, length);
    // A line that was alone the longest is still one of the longest.
    m_most -= m_ofLength[m_most].IsEmpty() ? 1 : 0;
}

LineId LineLengths::Longest() const
{
    return m_ofLength[m_most].First();
}

void LineLengths::Move(LineId line, std::size_t before, std::size_t length)
{
    if (before > 0)
    {
        m_ofLength[before].Remove(line, m_neighbours);
    }
    if (length > 0)
    {
        m_ofLength[length].Append(line, m_neighbours);
    }
}

} // namespace netboxit::queueing
