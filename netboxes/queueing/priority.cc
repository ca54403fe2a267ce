// SPDX-License-Identifier: GPL-2.0-or-later
#include "priority.h"

namespace netboxit::queueing
{

void Priority::Enqueue(const Waiting& frame, std::int64_t, double rate)
{
    if (frame.trafficClass >= m_lines.size())
    {
        m_lines.resize(frame.trafficClass + 1);
    }
    auto& line = m_lines[frame.trafficClass];
    if (!m_room.Holds(line.Packets() + 1, line.Bytes() + frame.bytes, rate))
    {
        m_dropped(frame, Loss::QueueFull);
        return;
    }
    line.Push(frame);
    ++m_packets;
    m_bytes += frame.bytes;
}

Waiting Priority::Take(Line& line)
{
    const auto frame = line.Pop();
    --m_packets;
    m_bytes -= frame.bytes;
    return frame;
}

std::optional<Waiting> Priority::Dequeue(std::int64_t)
{
    const auto first = std::ranges::find_if(m_lines, [](const Line& line) { return !line.IsEmpty(); });
    return first == m_lines.end() ? std::nullopt : std::optional(Take(*first));
}

std::optional<Waiting> Priority::TakeOlder(std::int64_t since)
{
    const auto old = std::ranges::find_if(
        m_lines, [since](const Line& line) { return !line.IsEmpty() && line.Front().entered < since; });
    return old == m_lines.end() ? std::nullopt : std::optional(Take(*old));
}

} // namespace netboxit::queueing
