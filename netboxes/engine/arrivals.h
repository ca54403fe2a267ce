// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "port.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace netboxit
{

/// A frame that waits for the simulation to reach the time of its arrival.
struct Arrival
{
    std::int64_t time; ///< when it enters: not before what the simulation had reached when it was read
    std::int64_t arrived;
    std::size_t number; ///< keeps those of the same time in order
    StationId station;
    Reception reception;
};

/// Frames that ports have given, in the order in which they enter.
class Arrivals
{
  public:
    explicit Arrivals(std::size_t expected)
    {
        m_arrivals.reserve(expected);
    }

    bool IsEmpty() const
    {
        return m_arrivals.empty();
    }

    /// At most one has come since the last one of those before it entered.
    bool IsSingle() const
    {
        return m_arrivals.size() <= 1;
    }

    /// When the first one enters; the latest time there is when there is none.
    std::int64_t Next() const
    {
        return m_next < m_arrivals.size() ? m_arrivals[m_next].time : std::numeric_limits<std::int64_t>::max();
    }

    void Add(std::int64_t time, std::int64_t arrived, StationId station, const Reception& reception)
    {
        m_arrivals.push_back({time, arrived, m_arrivals.size(), station, reception});
    }

    /// Puts those that were added into their places.
    void Sort()
    {
        // Most often one port has given frames, in order.
        constexpr auto KEY = [](const Arrival& arrival) { return std::pair(arrival.time, arrival.number); };
        if (!std::ranges::is_sorted(m_arrivals, {}, KEY))
        {
            std::ranges::sort(m_arrivals, {}, KEY);
        }
    }

    Arrival Take()
    {
        const auto arrival = m_arrivals[m_next++];
        if (m_next == m_arrivals.size())
        {
            m_arrivals.clear();
            m_next = 0;
        }
        return arrival;
    }

  private:
    std::vector<Arrival> m_arrivals; ///< those before m_next have entered
    std::size_t m_next{0};
};

} // namespace netboxit
