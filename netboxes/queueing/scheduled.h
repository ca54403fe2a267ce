// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "discipline.h"
#include "line.h"
#include "line_lengths.h"

namespace netboxit::queueing
{

/// Flows in lines of their own, which share the transmitter by a scheduler. What finds no room takes it from the longest line, whose newest
/// packet is dropped: so a flow that sends more than its share loses its own.
class Scheduled : public Discipline
{
  public:
    Scheduled(Room room, std::size_t lines, std::unique_ptr<Scheduler> scheduler, DropCallback dropped);

    void Enqueue(const Waiting& frame, std::int64_t now, double rate) override;
    std::optional<Waiting> Dequeue(std::int64_t now) override;
    std::optional<Waiting> TakeOlder(std::int64_t since) override;
    std::vector<Waiting> TakeTo(StationId receiver) override;
    std::uint32_t FirstBytes() const override;

    std::size_t Packets() const override
    {
        return m_packets;
    }

    std::uint64_t Bytes() const override
    {
        return m_bytes;
    }

    bool TellsFlowsApart() const override
    {
        return true;
    }

  protected:
    /// The line in which a frame waits.
    virtual LineId LineOf(const Waiting& frame) const
    {
        return static_cast<LineId>(frame.flow % m_lines.size());
    }

    const Line& At(LineId line) const
    {
        return m_lines[line];
    }

  private:
    Waiting Take(LineId line);
    std::uint32_t FirstBytesOf(LineId line) const;
    void DropNewest(LineId line);

    Room m_room;
    std::unique_ptr<Scheduler> m_scheduler;
    DropCallback m_dropped;
    WaitingPool m_pool;
    std::vector<Line> m_lines;
    LineLengths m_lengths;
    std::size_t m_packets{0};
    std::uint64_t m_bytes{0};
};

} // namespace netboxit::queueing
