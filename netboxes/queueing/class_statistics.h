// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "queue_statistics.h"
#include "waiting.h"

namespace netboxit::queueing
{

/// What is told of each line of a queue that has lines by traffic class: the same as of the whole queue. Of other queues, nothing.
class ClassStatistics
{
  public:
    /// The names of the classes that a parameter `queue` has lines for; none where it has no such lines. Throws OutOfRange.
    static std::vector<std::string> NamesIn(const Json& queue);

    /// The queue, in which nothing waits now, has lines for these classes. What was counted of a class goes on.
    void Begin(const std::vector<std::string>& names, std::int64_t now);

    void Entered(const Waiting& frame)
    {
        if (!m_classes.empty())
        {
            auto& own = Of(frame);
            ++own.packets;
            own.bytes += frame.bytes;
        }
    }

    void Dropped(const Waiting& frame, Loss reason)
    {
        if (!m_classes.empty())
        {
            Leave(frame).Dropped(reason);
        }
    }

    void Marked(const Waiting& frame, Mark reason)
    {
        if (!m_classes.empty())
        {
            Of(frame).statistics.Marked(reason);
        }
    }

    /// A frame goes that waited for so long, ns.
    void Sent(const Waiting& frame, std::int64_t time)
    {
        if (!m_classes.empty())
        {
            Leave(frame).Waited(time);
        }
    }

    /// A frame moves to another queue.
    void Moved(const Waiting& frame)
    {
        if (!m_classes.empty())
        {
            Leave(frame);
        }
    }

    /// All came and went at this time (simulated, ns).
    void HaveLengths(std::int64_t now)
    {
        for (auto& own : m_classes)
        {
            own.statistics.HasLength(own.packets, now);
        }
    }

    bool IsEmpty() const
    {
        return m_classes.empty();
    }

    /// A list, {class, and as of a queue} for each.
    Json Read(std::int64_t now) const;
    void Reset(std::int64_t now);

  private:
    struct Class
    {
        std::string name;
        std::size_t packets{0};
        std::uint64_t bytes{0};
        QueueStatistics statistics{};
    };

    Class& Of(const Waiting& frame)
    {
        return m_classes[std::min<std::size_t>(frame.trafficClass, m_classes.size() - 1)];
    }

    QueueStatistics& Leave(const Waiting& frame)
    {
        auto& own = Of(frame);
        --own.packets;
        own.bytes -= frame.bytes;
        return own.statistics;
    }

    std::vector<Class> m_classes; ///< in the order of the lines
};

} // namespace netboxit::queueing
