// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace netboxit::stages::testing
{

/// What happens in a closed loop, in virtual time; of two events at a time the one that was said first.
class Events
{
  public:
    std::int64_t Now() const
    {
        return m_now;
    }

    void At(std::int64_t at, std::function<void()> happens)
    {
        m_events.push({at, m_order++, std::move(happens)});
    }

    void RunUntil(std::int64_t end)
    {
        while (!m_events.empty() && m_events.top().at <= end)
        {
            const auto event = m_events.top();
            m_events.pop();
            m_now = event.at;
            event.happens();
        }
        m_now = end;
    }

  private:
    struct Event
    {
        std::int64_t at;
        std::uint64_t order;
        std::function<void()> happens;

        bool operator<(const Event& other) const
        {
            return std::pair(at, order) > std::pair(other.at, other.order);
        }
    };

    std::priority_queue<Event> m_events;
    std::int64_t m_now{};
    std::uint64_t m_order{};
};

} // namespace netboxit::stages::testing
