// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../engine/loss_counts.h"

#include <algorithm>
#include <array>
#include <bit>

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
            m_lengths[PlaceOf(m_length)] += now - m_since;
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
    Json Read(std::size_t packets, std::uint64_t bytes, std::int64_t now) const;
    void Reset(std::int64_t now);

  private:
    /// Lengths 0, 1, 2 to 3, 4 to 7, … packets; 2^20 is more than a queue holds.
    using Lengths = std::array<std::int64_t, 21>;

    static std::size_t PlaceOf(std::size_t packets)
    {
        return std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(packets)), std::tuple_size_v<Lengths> - 1);
    }

    std::size_t m_length{0};
    std::int64_t m_since{0};
    std::int64_t m_delay{0}; ///< of the latest that went, ns
    Lengths m_lengths{};     ///< for how long there were so many, ns
    LossCounts m_dropped;
};

} // namespace netboxit::queueing
