// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace netboxit::queueing
{

/// Has a queue send at a rate of its own: CAKE's shaper in deficit mode (Høiland-Jørgensen, Täht and Morton, "Piece of CAKE", 2018). It has
/// no bucket, and so no burst to be chosen. A packet goes when a virtual clock has come, and moves it on by the packet's time at the rate.
///
/// The clock is never behind: in any interval go no more bytes than the rate has time for, and one packet. So what a transmitter could
/// not send in time is not caught up. In Linux it is, while something waits.
class Shaper
{
  public:
    /// bit/s, infinite: nothing is delayed; and bytes that each packet counts more than it has. What went before keeps its time.
    void Set(double rate, std::uint32_t overhead)
    {
        m_rate = rate;
        m_overhead = overhead;
    }

    /// What a transmitter of such a rate (bit/s) can send with, as this lets it.
    double Rate(double transmitter) const
    {
        return std::min(transmitter, m_rate);
    }

    /// Nothing may go before, ns.
    std::int64_t Due() const
    {
        return m_rate == ALL ? std::numeric_limits<std::int64_t>::min() : m_due;
    }

    /// A packet goes now, which is not before Due().
    void Sent(std::uint32_t bytes, std::int64_t now)
    {
        if (m_rate == ALL)
        {
            return;
        }
        // The clock has parts of a nanosecond, or many short packets would go too fast or too slowly.
        const auto ahead = now > m_due ? 0.0 : m_part;
        const auto time = 8e9 * (static_cast<double>(bytes) + m_overhead) / m_rate - ahead;
        const auto whole = std::ceil(time);
        m_due = now + static_cast<std::int64_t>(whole);
        m_part = whole - time;
    }

  private:
    static constexpr auto ALL = std::numeric_limits<double>::infinity();

    double m_rate{ALL};
    std::uint32_t m_overhead{0};
    std::int64_t m_due{std::numeric_limits<std::int64_t>::min()};
    double m_part{0}; ///< by which the clock is before m_due, ns
};

} // namespace netboxit::queueing
