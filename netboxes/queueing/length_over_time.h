// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../engine/segment.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace netboxit::queueing
{

/// For how long a queue had each length: the distribution of its length, weighted by time. Exact below 128 packets; above that in
/// 64 equal steps for each doubling, so a percentile is at most 1/64 too large.
class LengthOverTime
{
  public:
    /// There were so many packets for so long, ns.
    void Add(std::size_t packets, std::int64_t time)
    {
        const auto step = StepOf(packets);
        if (step >= m_times.size())
        {
            m_times.resize(2 * step + 16); // a warm queue allocates nothing
        }
        m_times[step] += time;
        m_total += time;
        m_area += static_cast<double>(packets) * static_cast<double>(time);
        m_longest = std::max(m_longest, packets);
    }

    void Reset();

    /// {mean, p50, p90, p99, max: packets; empty: a share of the time}; null of no time. A percentile is the smallest length that was
    /// not exceeded in that share of the time.
    Json Distribution() const;
    /// The time in which 0, 1, 2 to 3, 4 to 7, … packets were there, s, up to the longest.
    Json Classes() const;

  private:
    static constexpr unsigned EXACT_BITS = 7;
    static constexpr std::size_t STEPS = std::size_t{1} << (EXACT_BITS - 1);

    static std::size_t ShiftOf(std::size_t packets)
    {
        const auto bits = static_cast<std::size_t>(std::bit_width(packets));
        return bits > EXACT_BITS ? bits - EXACT_BITS : 0;
    }

    static std::size_t StepOf(std::size_t packets)
    {
        const auto shift = ShiftOf(packets);
        return shift * STEPS + (packets >> shift);
    }

    static std::size_t LongestOf(std::size_t step);
    std::size_t Percentile(double share) const;

    std::vector<std::int64_t> m_times; ///< ns, by step
    std::int64_t m_total{0};
    double m_area{0}; ///< packets times ns
    std::size_t m_longest{0};
};

} // namespace netboxit::queueing
