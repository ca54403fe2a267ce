// SPDX-License-Identifier: GPL-2.0-or-later
#include "wf2q_plus.h"

#include <algorithm>
#include <numeric>

namespace netboxit::queueing
{

Wf2qPlus::Wf2qPlus(const Weights& weights)
    : m_weight(std::accumulate(weights.begin(), weights.end(), 0.0)), m_starts(weights.size()),
      m_ends(weights.size())
{
    for (const auto weight : weights)
    {
        m_stamps.push_back({.weight = static_cast<double>(weight)});
    }
}

void Wf2qPlus::Begin(LineId line, std::uint32_t bytes)
{
    auto& of = m_stamps[line];
    of.start = std::max(of.end, m_now);
    Follow(line, bytes);
}

LineId Wf2qPlus::Next()
{
    // Their equation 27: the virtual time is not behind the first start of those that wait.
    if (m_ends.IsEmpty())
    {
        m_now = std::max(m_now, m_starts.Earliest());
    }
    while (!m_starts.IsEmpty() && m_starts.Earliest() <= m_now)
    {
        const auto line = m_starts.First();
        m_starts.Remove(line);
        m_ends.Push(line, m_stamps[line].end);
    }
    return m_ends.First();
}

void Wf2qPlus::Sent(LineId line, std::uint32_t bytes, std::uint32_t following)
{
    auto& of = m_stamps[line];
    Remove(line);
    m_now += bytes / m_weight;
    of.start = of.end;
    Follow(line, following);
}

void Wf2qPlus::TakenOut(LineId line, std::uint32_t following)
{
    Remove(line);
    Follow(line, following);
}

void Wf2qPlus::Follow(LineId line, std::uint32_t following)
{
    auto& of = m_stamps[line];
    of.end = of.start + following / of.weight;
    if (following > 0)
    {
        m_starts.Push(line, of.start);
    }
}

void Wf2qPlus::Remove(LineId line)
{
    (m_ends.Has(line) ? m_ends : m_starts).Remove(line);
}

} // namespace netboxit::queueing
