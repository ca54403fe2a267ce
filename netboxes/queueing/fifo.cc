// SPDX-License-Identifier: GPL-2.0-or-later
#include "fifo.h"

namespace netboxit::queueing
{

void Fifo::Enqueue(const Waiting& frame, std::int64_t, double rate)
{
    if (HasRoomFor(frame, rate))
    {
        m_line.Push(frame);
    }
    else
    {
        m_dropped(frame, Loss::QueueFull);
    }
}

std::optional<Waiting> Fifo::Dequeue(std::int64_t)
{
    return m_line.IsEmpty() ? std::nullopt : std::optional(m_line.Pop());
}

std::optional<Waiting> Fifo::TakeOlder(std::int64_t since)
{
    return m_line.IsEmpty() || m_line.Front().entered >= since ? std::nullopt : std::optional(m_line.Pop());
}

std::vector<Waiting> Fifo::TakeTo(StationId receiver)
{
    std::vector<Waiting> taken;
    m_line.PopTo(receiver, taken);
    return taken;
}

std::uint32_t Fifo::FirstBytes() const
{
    return m_line.IsEmpty() ? 0 : m_line.Front().bytes;
}

} // namespace netboxit::queueing
