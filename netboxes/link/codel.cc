// SPDX-License-Identifier: GPL-2.0-or-later
#include "codel.h"

#include <cmath>

namespace netboxit::link
{

std::int64_t CodelLaw::After(std::int64_t time) const
{
    return time + std::llround(static_cast<double>(m_interval) / std::sqrt(m_count));
}

void Codel::Enqueue(const Waiting& frame, std::int64_t, double)
{
    if (m_room.Holds(m_line.Packets(), m_line.Bytes(), frame.bytes))
    {
        m_line.Push(frame);
    }
    else
    {
        m_dropped(frame, Loss::QueueFull);
    }
}

std::optional<Waiting> Codel::Dequeue(std::int64_t now)
{
    return m_law.Dequeue(
        m_line,
        now,
        [this] { return m_line.Bytes(); },
        [this](const Waiting& frame) { m_dropped(frame, Loss::QueueExpired); });
}

} // namespace netboxit::link
