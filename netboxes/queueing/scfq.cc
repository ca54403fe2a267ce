// SPDX-License-Identifier: GPL-2.0-or-later
#include "scfq.h"

#include <algorithm>

namespace netboxit::queueing
{

Scfq::Scfq(const Weights& weights) : m_ends(weights.size())
{
    for (const auto weight : weights)
    {
        m_stamps.push_back({.weight = static_cast<double>(weight)});
    }
}

void Scfq::Begin(LineId line, std::uint32_t bytes)
{
    auto& of = m_stamps[line];
    of.start = std::max(of.end, m_now);
    Follow(line, bytes);
}

LineId Scfq::Next()
{
    return m_ends.First();
}

void Scfq::Sent(LineId line, std::uint32_t, std::uint32_t following)
{
    auto& of = m_stamps[line];
    m_ends.Remove(line);
    m_now = of.end;
    of.start = of.end;
    Follow(line, following);
}

void Scfq::TakenOut(LineId line, std::uint32_t following)
{
    m_ends.Remove(line);
    Follow(line, following);
}

void Scfq::Follow(LineId line, std::uint32_t following)
{
    auto& of = m_stamps[line];
    of.end = of.start + following / of.weight;
    if (following > 0)
    {
        m_ends.Push(line, of.end);
    }
}

} // namespace netboxit::queueing
