// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../engine/loss_counts.h"
#include "discipline.h"
#include "length_over_time.h"

namespace netboxit::queueing
{

/// What is told of a queue, in one form for all technologies.
class QueueStatistics
{
  public:
    /// So many packets wait from now on (simulated time, ns).
    void HasLength(std::size_t packets, std::int64_t now)
    {
        if (now > m_since)
        {
            m_lengths.Add(m_length, now - m_since);
            m_since = now;
        }
        m_length = packets;
    }
    /// One goes that waited for so long, ns.
    void Waited(std::int64_t time)
    {
        m_delay = time;
    }
    void Dropped(Loss reason);
    void Marked(Mark reason)
    {
        ++m_marked[static_cast<std::size_t>(reason)];
    }
    Json Read(std::size_t packets, std::uint64_t bytes, std::int64_t now) const;
    void Reset(std::int64_t now);

  private:
    std::size_t m_length{0};
    std::int64_t m_since{0};
    std::int64_t m_delay{0}; ///< of the latest that went, ns
    LengthOverTime m_lengths;
    LossCounts m_dropped;
    std::array<std::uint64_t, MARK_NAMES.size()> m_marked{};
};

} // namespace netboxit::queueing
