// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>

namespace netboxit::queueing
{

/// Virtual time of schedulers that stamp: bytes by weight.
using VirtualTime = double;

/// When a line's first packet would begin and end if the line had its share all the time, in virtual time.
class Stamps
{
  public:
    explicit Stamps(std::uint32_t weight) : m_weight(weight)
    {
    }

    double Weight() const
    {
        return m_weight;
    }

    VirtualTime Start() const
    {
        return m_start;
    }

    VirtualTime End() const
    {
        return m_end;
    }

    /// The line, which was empty, has a packet: it begins now, or where the latest one ended.
    void Begin(VirtualTime now, std::uint32_t bytes)
    {
        m_start = std::max(m_end, now);
        Replace(bytes);
    }

    /// The first packet was sent, and this one is behind it; 0: none is.
    void Follow(std::uint32_t bytes)
    {
        m_start = m_end;
        Replace(bytes);
    }

    /// It weighs so much from now on, its first packet too. What that has waited for counts, up to its own time at the new weight: or the line
    /// would catch up with what it did not get at the old one.
    void Weigh(std::uint32_t weight, VirtualTime now)
    {
        const auto length = (m_end - m_start) * m_weight / weight;
        m_start = std::max(m_start, now - length);
        m_end = m_start + length;
        m_weight = weight;
    }

    /// The first packet was taken out without being sent, and this one is in its place; 0: none is.
    void Replace(std::uint32_t bytes)
    {
        m_end = m_start + bytes / m_weight;
    }

  private:
    double m_weight;
    VirtualTime m_start{0};
    VirtualTime m_end{0};
};

} // namespace netboxit::queueing
