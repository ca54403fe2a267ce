// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "codel.h"

#include <deque>

namespace netboxit::queueing
{

/// FQ-CoDel (RFC 8290): flows have lines of their own, each under CoDel's law, and take turns by deficit round robin; those that have just
/// begun come first.
class FqCodel : public Discipline
{
  public:
    FqCodel(Room room, std::size_t flows, std::uint32_t quantum, CodelLaw law, DropCallback dropped, MarkCallback mark);

    void Enqueue(const Waiting& frame, std::int64_t now, double rate) override;
    std::optional<Waiting> Dequeue(std::int64_t now) override;
    std::optional<Waiting> TakeOlder(std::int64_t since) override;
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

  private:
    struct Flow
    {
        Line line;
        CodelLaw law;
        std::int64_t credit{0};
        bool listed{false};
    };

    void DropFromTheLongest();
    void Gone(const Waiting& frame);

    Room m_room;
    std::uint32_t m_quantum;
    DropCallback m_dropped;
    MarkCallback m_mark;
    WaitingPool m_pool;
    std::vector<Flow> m_flows;
    std::deque<std::uint32_t> m_new;
    std::deque<std::uint32_t> m_old;
    std::size_t m_packets{0};
    std::uint64_t m_bytes{0};
};

} // namespace netboxit::queueing
