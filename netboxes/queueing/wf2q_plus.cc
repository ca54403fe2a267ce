// SPDX-License-Identifier: GPL-2.0-or-later
#include "wf2q_plus.h"

#include <numeric>

namespace netboxit::queueing
{

Wf2qPlus::Wf2qPlus(const Weights& weights)
    : m_stamps(weights.begin(), weights.end()), m_weight(std::accumulate(weights.begin(), weights.end(), 0.0)),
      m_starts(weights.size()), m_ends(weights.size())
{
}

void Wf2qPlus::Begin(LineId line, std::uint32_t bytes)
{
    m_stamps[line].Begin(m_now, bytes);
    Queue(line, bytes);
}

LineId Wf2qPlus::Next()
{
    // As they define it, the virtual time is not behind the first start of those that wait.
    if (m_ends.IsEmpty())
    {
        m_now = std::max(m_now, m_starts.Earliest());
    }
    while (!m_starts.IsEmpty() && m_starts.Earliest() <= m_now)
    {
        const auto line = m_starts.First();
        m_starts.Remove(line);
        m_ends.Push(line, m_stamps[line].End());
    }
    return m_ends.First();
}

void Wf2qPlus::Sent(LineId line, std::uint32_t bytes, std::uint32_t following)
{
    Remove(line);
    m_now += bytes / m_weight;
    m_stamps[line].Follow(following);
    Queue(line, following);
}

void Wf2qPlus::TakenOut(LineId line, std::uint32_t following)
{
    Remove(line);
    m_stamps[line].Replace(following);
    Queue(line, following);
}

void Wf2qPlus::Weigh(LineId line, std::uint32_t weight)
{
    m_weight += weight - m_stamps[line].Weight();
    const bool waits = m_ends.Has(line) || m_starts.Has(line);
    if (waits)
    {
        Remove(line);
    }
    m_stamps[line].Weigh(weight, m_now);
    if (waits)
    {
        m_starts.Push(line, m_stamps[line].Start());
    }
}

void Wf2qPlus::Queue(LineId line, std::uint32_t bytes)
{
    if (bytes > 0)
    {
        m_starts.Push(line, m_stamps[line].Start());
    }
}

void Wf2qPlus::Remove(LineId line)
{
    (m_ends.Has(line) ? m_ends : m_starts).Remove(line);
}

} // namespace netboxit::queueing
