// SPDX-License-Identifier: GPL-2.0-or-later
#include "codel.h"

#include <cmath>

namespace netboxit::queueing
{

std::int64_t CodelLaw::After(std::int64_t time) const
{
    return time + std::llround(static_cast<double>(m_interval) / std::sqrt(m_count));
}

std::optional<Waiting> Codel::Dequeue(std::int64_t now)
{
    return m_law.Dequeue(
        Waits(),
        now,
        [this] { return Bytes(); },
        [this](const Waiting& frame) { return m_mark(frame, Mark::Early); },
        [this](const Waiting& frame) { Drop(frame, Loss::QueueEarly); });
}

} // namespace netboxit::queueing
