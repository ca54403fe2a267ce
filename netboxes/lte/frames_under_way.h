// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../engine/segment.h"

#include <algorithm>
#include <deque>

namespace netboxit
{

/// Tells the queues apart that a bearer has, one after the other; 0 is none.
using QueueNumber = std::uint64_t;

/// The frames that are on their way over one bearer in one direction: first to its queue, in the order in which they were sent, then
/// in the queue, which may give them to RLC in another order, then in RLC and on the air. RLC delivers in sequence (TS 36.322, 5.1.2
/// and 5.1.3), so what it got before a frame that arrives, and has not arrived, is lost: ns-3 says nothing of it.
class FramesUnderWay
{
  public:
    struct Entry
    {
        SlotId slot;
        Destination to;      ///< whose copies end when this frame is lost here
        std::int64_t sent{}; ///< ns
        QueueNumber queue{}; ///< in which it waits, or waited
    };

    void Sent(const Entry& entry)
    {
        m_waiting.push_back(entry);
    }

    /// It waits in a queue now.
    void Queued(SlotId slot, QueueNumber queue);
    /// RLC got it from its queue.
    void Passed(SlotId slot);
    /// Its queue has dropped it. Nothing when nobody waits for it.
    std::optional<Entry> Dropped(SlotId slot)
    {
        return TakeWaiting(slot);
    }

    /// The frame has arrived; `lose` is called with each entry that will not arrive any more: those that RLC got before it, and those
    /// that were sent before it and do not wait in the queue that it came from. False when nobody waits for it.
    template <typename Lose>
    bool Arrived(SlotId slot, Lose lose)
    {
        const auto found = std::ranges::find(m_passed, slot, &Entry::slot);
        if (found == m_passed.end())
        {
            return false;
        }
        const auto arrived = *found;
        std::for_each(m_passed.begin(), found, lose);
        m_passed.erase(m_passed.begin(), found + 1);
        for (auto entry = m_waiting.begin(); entry != m_waiting.end() && entry->sent < arrived.sent;)
        {
            if (entry->queue == arrived.queue)
            {
                ++entry;
                continue;
            }
            lose(*entry);
            entry = m_waiting.erase(entry);
        }
        return true;
    }

    /// Gives up what was sent before `time`.
    template <typename Lose>
    void GiveUp(std::int64_t time, Lose lose)
    {
        for (auto* entries : {&m_passed, &m_waiting})
        {
            while (!entries->empty() && entries->front().sent < time)
            {
                const auto entry = entries->front();
                entries->pop_front();
                lose(entry);
            }
        }
    }

    std::size_t Count() const
    {
        return m_waiting.size() + m_passed.size();
    }

  private:
    std::optional<Entry> TakeWaiting(SlotId slot);

    std::deque<Entry> m_waiting; ///< on the way to a queue, or in one, in the order in which they were sent
    std::deque<Entry> m_passed;  ///< in the order in which RLC got them
};

} // namespace netboxit
