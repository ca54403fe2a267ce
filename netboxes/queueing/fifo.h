// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "discipline.h"
#include "line.h"

namespace netboxit::queueing
{

/// In the order of arrival; what finds it full is dropped.
class Fifo : public Discipline
{
  public:
    Fifo(Room room, DropCallback dropped) : m_room(room), m_dropped(std::move(dropped))
    {
    }

    void Enqueue(const Waiting& frame, std::int64_t now, double rate) override;
    std::optional<Waiting> Dequeue(std::int64_t now) override;
    std::optional<Waiting> TakeOlder(std::int64_t since) override;
    std::vector<Waiting> TakeTo(StationId receiver) override;
    std::uint32_t FirstBytes() const override;

    std::size_t Packets() const override
    {
        return m_line.Packets();
    }

    std::uint64_t Bytes() const override
    {
        return m_line.Bytes();
    }

  protected:
    bool HasRoomFor(const Waiting& frame, double rate) const
    {
        return m_room.Holds(m_line.Packets() + 1, m_line.Bytes() + frame.bytes, rate);
    }

    void Drop(const Waiting& frame, Loss reason) const
    {
        m_dropped(frame, reason);
    }

    Line& Waits()
    {
        return m_line;
    }

  private:
    Room m_room;
    DropCallback m_dropped;
    WaitingPool m_pool;
    Line m_line{m_pool};
};

} // namespace netboxit::queueing
