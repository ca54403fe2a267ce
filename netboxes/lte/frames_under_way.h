// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../engine/segment.h"

#include <deque>

namespace netboxit
{

/// The frames that are on their way over one bearer in one direction. RLC delivers in sequence (TS 36.322, 5.1.2 and 5.1.3), so what
/// was sent before a frame that arrives, and has not arrived, is lost: ns-3 says nothing of it.
class FramesUnderWay
{
  public:
    struct Entry
    {
        SlotId slot;
        Destination to; ///< whose copies end when this frame is lost here
        std::int64_t sent{}; ///< ns
    };

    void Sent(const Entry& entry)
    {
        m_entries.push_back(entry);
    }

    /// The frame has arrived; `lose` is called with each entry that it has overtaken. False when nobody waits for it.
    template <typename Lose>
    bool Arrived(SlotId slot, Lose lose)
    {
        const auto found = FromFront(slot);
        if (found == m_entries.end())
        {
            return false;
        }
        for (auto entry = m_entries.begin(); entry != found; ++entry)
        {
            lose(*entry);
        }
        m_entries.erase(m_entries.begin(), found + 1);
        return true;
    }

    /// Refused by a full queue, right after it was sent. Nothing when nobody waits for it.
    std::optional<Entry> Refused(SlotId slot);

    /// Gives up what was sent before `time`.
    template <typename Lose>
    void GiveUp(std::int64_t time, Lose lose)
    {
        while (!m_entries.empty() && m_entries.front().sent < time)
        {
            const auto entry = m_entries.front();
            m_entries.pop_front();
            lose(entry);
        }
    }

    std::size_t Count() const
    {
        return m_entries.size();
    }

  private:
    std::deque<Entry>::iterator FromFront(SlotId slot);

    std::deque<Entry> m_entries;
};

} // namespace netboxit
