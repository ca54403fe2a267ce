// SPDX-License-Identifier: GPL-2.0-or-later
#include "line_lengths.h"

#include <algorithm>
#include <utility>

namespace netboxit::queueing
{

LineLengths::LineLengths(std::size_t lines) : m_lengths(lines, 0), m_neighbours(lines), m_ofLength(2)
{
}

void LineLengths::Grow(LineId line)
{
    const auto length = m_lengths[line] + 1;
    if (length == m_ofLength.size())
    {
        m_ofLength.resize(2 * m_ofLength.size());
    }
    Move(line, length);
    m_most = std::max(m_most, length);
}

void LineLengths::Shrink(LineId line)
{
    Move(line, m_lengths[line] - 1);
    // A line that was alone the longest is still one of the longest.
    m_most -= m_ofLength[m_most].IsEmpty() ? 1 : 0;
}

LineId LineLengths::Longest() const
{
    return m_ofLength[m_most].First();
}

void LineLengths::Move(LineId line, std::uint32_t length)
{
    if (const auto before = std::exchange(m_lengths[line], length); before > 0)
    {
        m_ofLength[before].Remove(line, m_neighbours);
    }
    if (length > 0)
    {
        m_ofLength[length].Append(line, m_neighbours);
    }
}

} // namespace netboxit::queueing
