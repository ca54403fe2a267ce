// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "waiting_pool.h"

namespace netboxit::queueing
{

/// Frames in their order, in a pool that outlives the line.
class Line
{
  public:
    explicit Line(WaitingPool& pool) : m_pool(&pool)
    {
    }

    bool IsEmpty() const
    {
        return m_count == 0;
    }

    std::size_t Packets() const
    {
        return m_count;
    }

    std::uint64_t Bytes() const
    {
        return m_bytes;
    }

    const Waiting& Front() const
    {
        return m_pool->m_slots[m_first].frame;
    }

    void Push(const Waiting& frame)
    {
        const auto place = m_pool->Take();
        m_pool->m_slots[place] = {frame, m_last, WaitingPool::NOWHERE};
        (m_count == 0 ? m_first : m_pool->m_slots[m_last].behind) = place;
        m_last = place;
        ++m_count;
        m_bytes += frame.bytes;
    }

    Waiting Pop()
    {
        const auto& slot = m_pool->m_slots[m_first];
        const auto frame = slot.frame;
        const auto behind = slot.behind;
        Forget(m_first, frame);
        m_first = behind;
        return frame;
    }

    /// Takes the newest one.
    Waiting PopNewest()
    {
        const auto& slot = m_pool->m_slots[m_last];
        const auto frame = slot.frame;
        const auto before = slot.before;
        Forget(m_last, frame);
        m_last = before;
        return frame;
    }

    /// Takes those that are for a receiver, wherever they stand; `taken` gets them in their order.
    void PopTo(StationId receiver, std::vector<Waiting>& taken)
    {
        for (auto left = m_count, place = m_first; left > 0; --left)
        {
            const auto slot = m_pool->m_slots[place];
            if (slot.frame.to == receiver)
            {
                // The ends of a line say nothing of what is beyond them.
                (place == m_first ? m_first : m_pool->m_slots[slot.before].behind) = slot.behind;
                (place == m_last ? m_last : m_pool->m_slots[slot.behind].before) = slot.before;
                Forget(place, slot.frame);
                taken.push_back(slot.frame);
            }
            place = slot.behind;
        }
    }

  private:
    void Forget(WaitingPool::Place place, const Waiting& frame)
    {
        m_pool->Free(place);
        --m_count;
        m_bytes -= frame.bytes;
    }

    WaitingPool* m_pool;
    WaitingPool::Place m_first{WaitingPool::NOWHERE};
    WaitingPool::Place m_last{WaitingPool::NOWHERE};
    std::uint32_t m_count{0};
    std::uint64_t m_bytes{0};
};

} // namespace netboxit::queueing
