// SPDX-License-Identifier: GPL-2.0-or-later
#include "queue_statistics.h"

#include <algorithm>

namespace netboxit::queueing
{

void QueueStatistics::Dropped(Loss reason)
{
    ++m_dropped[reason];
}

Json QueueStatistics::Read(std::size_t packets, std::uint64_t bytes, std::int64_t now) const
{
    auto lengths = m_lengths;
    lengths[PlaceOf(m_length)] += now - m_since;
    Json told = Json::array();
    const auto last = std::ranges::find_if(lengths.rbegin(), lengths.rend(), [](std::int64_t time) { return time > 0; });
    for (auto length = lengths.begin(); length != last.base(); ++length)
    {
        told.push_back(static_cast<double>(*length) / 1e9);
    }
    return {{"packets", packets},
            {"bytes", bytes},
            {"delay_s", static_cast<double>(m_delay) / 1e9},
            {"dropped",
             {{"full", m_dropped[Loss::QueueFull]},
              {"early", m_dropped[Loss::QueueEarly]},
              {"expired", m_dropped[Loss::QueueExpired]}}},
            {"length_s", told}};
}

void QueueStatistics::Reset(std::int64_t now)
{
    HasLength(m_length, now);
    m_lengths = {};
    m_dropped = {};
}

} // namespace netboxit::queueing
