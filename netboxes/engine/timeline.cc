// SPDX-License-Identifier: GPL-2.0-or-later
#include "timeline.h"

#include <algorithm>

namespace netboxit
{

Timeline::Timeline(const Json& points, Between between) : m_between(between)
{
    for (const auto& point : points)
    {
        m_points.push_back({point.at(0), point.at(1)});
    }
    if (m_points.empty() || !std::ranges::is_sorted(m_points, std::ranges::less_equal{}, &Point::time))
    {
        throw std::invalid_argument("a timeline needs points at rising times");
    }
}

std::vector<Timeline::Point>::const_iterator Timeline::After(double seconds) const
{
    return std::ranges::upper_bound(m_points, seconds, {}, &Point::time);
}

double Timeline::At(double seconds) const
{
    const auto after = After(seconds);
    if (after == m_points.begin())
    {
        return after->value;
    }
    const auto& last = *std::prev(after);
    if (after == m_points.end() || m_between == Between::Hold)
    {
        return last.value;
    }
    return last.value + (after->value - last.value) * (seconds - last.time) / (after->time - last.time);
}

std::optional<double> Timeline::Next(double seconds) const
{
    const auto after = After(seconds);
    return after == m_points.end() ? std::nullopt : std::optional(after->time);
}

} // namespace netboxit
