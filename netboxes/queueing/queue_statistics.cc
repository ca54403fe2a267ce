// SPDX-License-Identifier: GPL-2.0-or-later
#include "queue_statistics.h"

namespace netboxit::queueing
{

void QueueStatistics::Dropped(Loss reason)
{
    ++m_dropped[reason];
}

Json QueueStatistics::Read(std::size_t packets, std::uint64_t bytes, std::int64_t now) const
{
    Json marked = Json::object();
    for (std::size_t reason = 0; reason < MARK_NAMES.size(); ++reason)
    {
        marked[std::string(MARK_NAMES[reason])] = m_marked[reason];
    }
    auto lengths = m_lengths;
    lengths.Add(m_length, std::max<std::int64_t>(now - m_since, 0));
    return {{"packets", packets},
            {"bytes", bytes},
            {"delay_s", static_cast<double>(m_delay) / 1e9},
            {"dropped",
             {{"full", m_dropped[Loss::QueueFull]},
              {"early", m_dropped[Loss::QueueEarly]},
              {"expired", m_dropped[Loss::QueueExpired]}}},
            {"marked", marked},
            {"length", lengths.Distribution()},
            {"length_s", lengths.Classes()}};
}

void QueueStatistics::Reset(std::int64_t now)
{
    HasLength(m_length, now);
    m_lengths.Reset();
    m_dropped = {};
    m_marked = {};
}

} // namespace netboxit::queueing
