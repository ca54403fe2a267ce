// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace netboxit
{

/// Counts durations in ns with three significant digits in fixed memory: linear up to 2048 ns, then 1024
/// equal steps for each doubling (Tene's HDR histogram). Values above about 18 minutes are counted in the
/// last step; the maximum is kept exactly.
class Histogram
{
  public:
    Histogram();

    void Record(std::int64_t ns);
    void Reset();

    std::uint64_t Count() const
    {
        return m_count;
    }

    std::int64_t Maximum() const
    {
        return m_maximum;
    }

    /// Of all values; those above 18 minutes count as so much.
    std::int64_t Sum() const
    {
        return m_sum;
    }

    /// The smallest recorded value (within a step) that `share` (0 … 1) of the values do not exceed; 0 when
    /// there are none.
    std::int64_t Percentile(double share) const;
    /// How many of the values do not exceed each of these bounds, which ascend. A step counts as its upper end.
    std::vector<std::uint64_t> UpTo(std::span<const std::int64_t> bounds) const;

  private:
    static std::size_t StepOf(std::uint64_t ns);
    static std::int64_t UpperEnd(std::size_t step);

    std::vector<std::uint64_t> m_counts;
    std::uint64_t m_count{0};
    std::int64_t m_maximum{0};
    std::int64_t m_sum{0};
};

} // namespace netboxit
