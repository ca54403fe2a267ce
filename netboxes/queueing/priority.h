// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "discipline.h"

namespace netboxit::queueing
{

/// A line for each traffic class, each with the same room: the first that has something sends, in the order in which the classes are
/// declared.
class Priority : public Discipline
{
  public:
    Priority(Room room, DropCallback dropped) : m_room(room), m_dropped(std::move(dropped))
    {
    }

    void Enqueue(const Waiting& frame, std::int64_t now, double rate) override;
    std::optional<Waiting> Dequeue(std::int64_t now) override;
    std::optional<Waiting> TakeOlder(std::int64_t since) override;

    std::size_t Packets() const override
    {
        return m_packets;
    }

    std::uint64_t Bytes() const override
    {
        return m_bytes;
    }

  private:
    Waiting Take(Line& line);

    Room m_room;
    DropCallback m_dropped;
    std::vector<Line> m_lines; ///< by traffic class
    std::size_t m_packets{0};
    std::uint64_t m_bytes{0};
};

} // namespace netboxit::queueing
