// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "waiting.h"

#include <vector>

namespace netboxit::queueing
{

/// The memory in which the frames of all lines of a discipline wait. It grows and is kept, so that a warm queue allocates nothing; and as it
/// is one for all lines, it is as large as what waits, however many lines there are.
class WaitingPool
{
  public:
    /// The number of a place.
    using Place = std::uint32_t;

    /// No place.
    static constexpr Place NOWHERE = ~Place{};

    WaitingPool() = default;
    WaitingPool(const WaitingPool&) = delete;
    WaitingPool& operator=(const WaitingPool&) = delete;

  private:
    friend class Line;

    struct Slot
    {
        Waiting frame;
        Place before{NOWHERE}; ///< in its line
        Place behind{NOWHERE}; ///< in its line, or in the list of those that are free
    };

    Place Take()
    {
        if (m_free == NOWHERE)
        {
            m_slots.emplace_back();
            return static_cast<Place>(m_slots.size() - 1);
        }
        const auto place = m_free;
        m_free = m_slots[place].behind;
        return place;
    }

    void Free(Place place)
    {
        m_slots[place].behind = m_free;
        m_free = place;
    }

    std::vector<Slot> m_slots;
    Place m_free{NOWHERE}; ///< the first one
};

} // namespace netboxit::queueing
