// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../engine/ecn.h"
#include "../engine/frame.h"

#include <algorithm>
#include <vector>

namespace netboxit::queueing
{

/// What a discipline knows of something that waits to be sent.
struct Waiting
{
    std::uint32_t item{};   ///< the number by which the queue finds it again
    std::uint32_t bytes{};  ///< that it takes of the queue's room, and of the transmitter's time
    std::int64_t entered{}; ///< simulated time, ns
    std::uint32_t flow{};   ///< hash of its flow, where the discipline tells flows apart
    ClassId trafficClass{};
    Ecn ecn{}; ///< where the discipline looks at it
};

/// Frames in their order. A ring that grows and is kept, so that a warm queue allocates nothing.
class Line
{
  public:
    bool IsEmpty() const
    {
        return m_count == 0;
    }

    std::size_t Packets() const
    {
        return m_count;
    }

    std::uint64_t Bytes() const
    {
        return m_bytes;
    }

    const Waiting& Front() const
    {
        return m_frames[m_first];
    }

    void Push(const Waiting& frame)
    {
        if (m_count == m_frames.size())
        {
            std::ranges::rotate(m_frames, m_frames.begin() + static_cast<std::ptrdiff_t>(m_first));
            m_first = 0;
            m_frames.resize(std::max<std::size_t>(2 * m_frames.size(), 16));
        }
        m_frames[(m_first + m_count++) & (m_frames.size() - 1)] = frame;
        m_bytes += frame.bytes;
    }

    /// Takes the newest one.
    Waiting PopNewest()
    {
        const auto frame = m_frames[(m_first + --m_count) & (m_frames.size() - 1)];
        m_bytes -= frame.bytes;
        return frame;
    }

    Waiting Pop()
    {
        const auto frame = m_frames[m_first];
        m_first = (m_first + 1) & (m_frames.size() - 1);
        --m_count;
        m_bytes -= frame.bytes;
        return frame;
    }

  private:
    std::vector<Waiting> m_frames; ///< its size a power of two
    std::size_t m_first{0};
    std::size_t m_count{0};
    std::uint64_t m_bytes{0};
};

} // namespace netboxit::queueing
