// SPDX-License-Identifier: GPL-2.0-or-later
#include "scheduled.h"

namespace netboxit::queueing
{

Scheduled::Scheduled(Room room, std::size_t lines, std::unique_ptr<Scheduler> scheduler, DropCallback dropped)
    : m_room(room), m_scheduler(std::move(scheduler)), m_dropped(std::move(dropped)), m_lines(lines, Line(m_pool)), m_lengths(lines)
{
}

void Scheduled::Enqueue(const Waiting& frame, std::int64_t, double rate)
{
    const auto number = LineOf(frame);
    auto& line = m_lines[number];
    const bool begins = line.IsEmpty();
    line.Push(frame);
    m_lengths.Grow(number, line.Packets());
    ++m_packets;
    m_bytes += frame.bytes;
    if (begins)
    {
        m_scheduler->Begin(number, frame.bytes);
    }
    while (!m_room.Holds(m_packets, m_bytes, rate))
    {
        DropNewest(m_lengths.Longest());
    }
}

std::optional<Waiting> Scheduled::Dequeue(std::int64_t)
{
    if (m_packets == 0)
    {
        return std::nullopt;
    }
    const auto line = m_scheduler->Next();
    const auto frame = Take(line);
    m_scheduler->Sent(line, frame.bytes, FirstBytesOf(line));
    return frame;
}

std::optional<Waiting> Scheduled::TakeOlder(std::int64_t since)
{
    const auto old = std::ranges::find_if(
        m_lines, [since](const Line& line) { return !line.IsEmpty() && line.Front().entered < since; });
    if (old == m_lines.end())
    {
        return std::nullopt;
    }
    const auto line = static_cast<LineId>(old - m_lines.begin());
    const auto frame = Take(line);
    m_scheduler->TakenOut(line, FirstBytesOf(line));
    return frame;
}

std::vector<Waiting> Scheduled::TakeTo(StationId receiver)
{
    std::vector<Waiting> taken;
    for (LineId number = 0; number < m_lines.size(); ++number)
    {
        auto& line = m_lines[number];
        const auto first = FirstBytesOf(number);
        auto packets = line.Packets();
        line.PopTo(receiver, taken);
        while (packets > line.Packets())
        {
            m_lengths.Shrink(number, --packets);
            --m_packets;
        }
        if (const auto following = FirstBytesOf(number); following != first)
        {
            m_scheduler->TakenOut(number, following);
        }
    }
    for (const auto& frame : taken)
    {
        m_bytes -= frame.bytes;
    }
    return taken;
}

Waiting Scheduled::Take(LineId line)
{
    const auto frame = m_lines[line].Pop();
    m_lengths.Shrink(line, m_lines[line].Packets());
    --m_packets;
    m_bytes -= frame.bytes;
    return frame;
}

std::uint32_t Scheduled::FirstBytes() const
{
    return m_packets > 0 ? FirstBytesOf(m_scheduler->Next()) : 0;
}

std::uint32_t Scheduled::FirstBytesOf(LineId line) const
{
    return m_lines[line].IsEmpty() ? 0 : m_lines[line].Front().bytes;
}

void Scheduled::DropNewest(LineId line)
{
    const auto frame = m_lines[line].PopNewest();
    m_lengths.Shrink(line, m_lines[line].Packets());
    --m_packets;
    m_bytes -= frame.bytes;
    if (m_lines[line].IsEmpty())
    {
        m_scheduler->TakenOut(line, 0);
    }
    m_dropped(frame, Loss::QueueFull);
}

} // namespace netboxit::queueing
