// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "fifo.h"

namespace netboxit::queueing
{

/// RFC 8289's control law, for any line of frames: drops at its head, more and more often, while frames have waited for longer than a
/// target for longer than an interval. What is marked instead counts as a drop does, but goes, as in Linux (codel_dequeue).
class CodelLaw
{
  public:
    /// ns; and the bytes below which a queue is never too long: one frame of the greatest length (RFC 8289, 4.4).
    CodelLaw(std::int64_t target, std::int64_t interval, std::uint32_t longest)
        : m_target(target), m_interval(interval), m_longest(longest)
    {
    }

    /// The next frame of `line` that may go; those before it are given to `drop`. `mark` marks a frame, or says false. `bytes` tells how much
    /// waits in the whole queue.
    template <typename BytesWaiting, typename MarkFrame, typename Drop>
    std::optional<Waiting> Dequeue(Line& line, std::int64_t now, BytesWaiting bytes, MarkFrame mark, Drop drop)
    {
        auto next = Look(line, now, bytes);
        if (m_dropping)
        {
            if (!next.mayDrop)
            {
                m_dropping = false;
            }
            while (m_dropping && now >= m_dropNext)
            {
                ++m_count;
                if (mark(*next.frame))
                {
                    m_dropNext = After(m_dropNext);
                    break;
                }
                drop(*next.frame);
                next = Look(line, now, bytes);
                if (!next.mayDrop)
                {
                    m_dropping = false;
                }
                else
                {
                    m_dropNext = After(m_dropNext);
                }
            }
        }
        else if (next.mayDrop)
        {
            if (!mark(*next.frame))
            {
                drop(*next.frame);
                next = Look(line, now, bytes);
            }
            m_dropping = true;
            // Where it was when it stopped not long ago (5.4).
            const auto more = m_count - m_lastCount;
            m_count = more > 1 && now - m_dropNext < 16 * m_interval ? more : 1;
            m_dropNext = After(now);
            m_lastCount = m_count;
        }
        return next.frame;
    }

  private:
    struct Next
    {
        std::optional<Waiting> frame;
        bool mayDrop{false};
    };

    template <typename BytesWaiting>
    Next Look(Line& line, std::int64_t now, BytesWaiting bytes)
    {
        if (line.IsEmpty())
        {
            m_firstAbove = 0;
            return {};
        }
        Next next{line.Pop(), false};
        if (now - next.frame->entered < m_target || bytes() <= m_longest)
        {
            m_firstAbove = 0;
        }
        else if (m_firstAbove == 0)
        {
            m_firstAbove = now + m_interval;
        }
        else
        {
            next.mayDrop = now >= m_firstAbove;
        }
        return next;
    }

    std::int64_t After(std::int64_t time) const;

    std::int64_t m_target;
    std::int64_t m_interval;
    std::uint32_t m_longest;
    std::int64_t m_firstAbove{0};
    std::int64_t m_dropNext{0};
    std::uint32_t m_count{0};
    std::uint32_t m_lastCount{0};
    bool m_dropping{false};
};

/// CoDel (RFC 8289): one line under its law.
class Codel : public Fifo
{
  public:
    Codel(Room room, CodelLaw law, DropCallback dropped, MarkCallback mark)
        : Fifo(room, std::move(dropped)), m_law(law), m_mark(std::move(mark))
    {
    }

    std::optional<Waiting> Dequeue(std::int64_t now) override;

  private:
    CodelLaw m_law;
    MarkCallback m_mark;
};

} // namespace netboxit::queueing
