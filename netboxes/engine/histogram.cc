// SPDX-License-Identifier: GPL-2.0-or-later
#include "histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace netboxit
{

namespace
{

constexpr unsigned LINEAR_BITS = 11; ///< 2048 steps of 1 ns: half a step is below 0.1 % from 1024 on
constexpr std::size_t STEPS = std::size_t{1} << (LINEAR_BITS - 1); ///< steps of each further doubling
constexpr unsigned LARGEST_BITS = 40;
constexpr std::uint64_t LARGEST = (std::uint64_t{1} << LARGEST_BITS) - 1;

} // namespace

Histogram::Histogram() : m_counts(STEPS * (LARGEST_BITS - LINEAR_BITS + 2))
{
}

void Histogram::Record(std::int64_t ns)
{
    const auto value = std::max<std::int64_t>(ns, 0);
    ++m_counts[StepOf(std::min(static_cast<std::uint64_t>(value), LARGEST))];
    ++m_count;
    m_maximum = std::max(m_maximum, value);
    m_sum += std::min(value, static_cast<std::int64_t>(LARGEST));
}

void Histogram::Reset()
{
    std::ranges::fill(m_counts, 0);
    m_count = 0;
    m_maximum = 0;
    m_sum = 0;
}

std::int64_t Histogram::Percentile(double share) const
{
    const auto wanted = std::max<std::uint64_t>(
        1, static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(m_count))));
    std::uint64_t seen = 0;
    for (std::size_t step = 0; step < m_counts.size(); ++step)
    {
        seen += m_counts[step];
        if (seen >= wanted)
        {
            return std::min(UpperEnd(step), m_maximum);
        }
    }
    return 0;
}

std::vector<std::uint64_t> Histogram::UpTo(std::span<const std::int64_t> bounds) const
{
    std::vector<std::uint64_t> counts;
    std::uint64_t seen = 0;
    std::size_t step = 0;
    for (const auto bound : bounds)
    {
        for (; step < m_counts.size() && seen < m_count && UpperEnd(step) <= bound; ++step)
        {
            seen += m_counts[step];
        }
        counts.push_back(seen);
    }
    return counts;
}

std::size_t Histogram::StepOf(std::uint64_t ns)
{
    const unsigned shift = std::max<int>(std::bit_width(ns) - static_cast<int>(LINEAR_BITS), 0);
    return shift * STEPS + (ns >> shift);
}

std::int64_t Histogram::UpperEnd(std::size_t step)
{
    const auto shift = step < 2 * STEPS ? 0 : step / STEPS - 1;
    return static_cast<std::int64_t>(((step - shift * STEPS + 1) << shift) - 1);
}

} // namespace netboxit
