// SPDX-License-Identifier: GPL-2.0-or-later
#include "length_over_time.h"

#include <algorithm>
#include <cmath>

namespace netboxit::queueing
{

void LengthOverTime::Reset()
{
    std::ranges::fill(m_times, 0);
    m_total = 0;
    m_area = 0;
    m_longest = 0;
}

Json LengthOverTime::Distribution() const
{
    if (m_total == 0)
    {
        return nullptr;
    }
    const auto total = static_cast<double>(m_total);
    return {{"mean", m_area / total},
            {"p50", Percentile(0.5)},
            {"p90", Percentile(0.9)},
            {"p99", Percentile(0.99)},
            {"max", m_longest},
            {"empty", static_cast<double>(m_times.front()) / total}};
}

Json LengthOverTime::Classes() const
{
    std::vector<std::int64_t> classes(m_total == 0 ? 0 : static_cast<std::size_t>(std::bit_width(m_longest)) + 1);
    for (std::size_t step = 0; step < m_times.size(); ++step)
    {
        if (m_times[step] > 0)
        {
            classes[static_cast<std::size_t>(std::bit_width(LongestOf(step)))] += m_times[step];
        }
    }
    Json told = Json::array();
    for (const auto time : classes)
    {
        told.push_back(static_cast<double>(time) / 1e9);
    }
    return told;
}

std::size_t LengthOverTime::LongestOf(std::size_t step)
{
    const auto shift = step < 2 * STEPS ? 0 : step / STEPS - 1;
    return ((step - shift * STEPS + 1) << shift) - 1;
}

std::size_t LengthOverTime::Percentile(double share) const
{
    const auto wanted = std::llround(std::ceil(share * static_cast<double>(m_total)));
    std::int64_t passed = 0;
    for (std::size_t step = 0; step < m_times.size(); ++step)
    {
        passed += m_times[step];
        if (passed >= wanted)
        {
            return std::min(LongestOf(step), m_longest);
        }
    }
    return m_longest;
}

} // namespace netboxit::queueing
