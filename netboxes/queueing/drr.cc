// SPDX-License-Identifier: GPL-2.0-or-later
#include "drr.h"

#include <algorithm>

namespace netboxit::queueing
{

Drr::Drr(const Weights& weights, std::uint32_t quantum)
    : m_weights(weights), m_least(std::ranges::min(weights)), m_quantum(quantum), m_deficits(weights.size()), m_neighbours(weights.size())
{
}

void Drr::Begin(LineId line, std::uint32_t bytes)
{
    m_deficits.Begin(line, bytes);
    m_active.Append(line, m_neighbours);
}

LineId Drr::Next()
{
    return m_deficits.Turn(m_active, m_neighbours, [this](LineId line) { return Quantum(line); });
}

void Drr::Sent(LineId line, std::uint32_t bytes, std::uint32_t following)
{
    m_deficits.Sent(line, bytes, following);
    if (following == 0)
    {
        m_active.Remove(line, m_neighbours);
    }
}

void Drr::TakenOut(LineId line, std::uint32_t following)
{
    m_deficits.Follows(line, following);
    if (following == 0)
    {
        m_active.Remove(line, m_neighbours);
    }
}

void Drr::Weigh(LineId line, std::uint32_t weight)
{
    m_weights[line] = weight;
    m_least = std::ranges::min(m_weights);
    for (LineId each = 0; each < m_weights.size(); ++each)
    {
        m_deficits.Limit(each, Quantum(each)); // it may be in the midst of a turn
    }
}

} // namespace netboxit::queueing
