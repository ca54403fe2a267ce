// SPDX-License-Identifier: GPL-2.0-or-later
#include "scfq.h"

namespace netboxit::queueing
{

Scfq::Scfq(const Weights& weights) : m_stamps(weights.begin(), weights.end()), m_ends(weights.size())
{
}

void Scfq::Begin(LineId line, std::uint32_t bytes)
{
    m_stamps[line].Begin(m_now, bytes);
    Queue(line, bytes);
}

LineId Scfq::Next()
{
    return m_ends.First();
}

void Scfq::Sent(LineId line, std::uint32_t, std::uint32_t following)
{
    m_ends.Remove(line);
    m_now = m_stamps[line].End();
    m_stamps[line].Follow(following);
    Queue(line, following);
}

void Scfq::TakenOut(LineId line, std::uint32_t following)
{
    m_ends.Remove(line);
    m_stamps[line].Replace(following);
    Queue(line, following);
}

void Scfq::Weigh(LineId line, std::uint32_t weight)
{
    m_stamps[line].Weigh(weight, m_now);
    if (m_ends.Has(line))
    {
        m_ends.Remove(line);
        m_ends.Push(line, m_stamps[line].End());
    }
}

void Scfq::Queue(LineId line, std::uint32_t bytes)
{
    if (bytes > 0)
    {
        m_ends.Push(line, m_stamps[line].End());
    }
}

} // namespace netboxit::queueing
