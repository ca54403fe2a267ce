// SPDX-License-Identifier: GPL-2.0-or-later
#include "capacity.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace netboxit::link
{

namespace
{

constexpr double SECOND = 1e9;
constexpr auto NEVER = std::numeric_limits<std::int64_t>::max() / 2;

} // namespace

std::int64_t ConstantRate::Finish(std::int64_t start, std::uint32_t bytes)
{
    return start + std::llround(bytes * 8 * SECOND / m_rate);
}

Series::Series(const Json& points, Timeline::Between between, bool repeat)
    : m_timeline(points, between), m_between(between), m_last(points.back().at(0)), m_repeat(repeat && m_last > 0)
{
}

Series::Place Series::PlaceOf(std::int64_t now) const
{
    const auto seconds = m_origin < 0 ? 0.0 : static_cast<double>(now - m_origin) / SECOND;
    if (!m_repeat || m_origin < 0)
    {
        return {seconds, 0.0};
    }
    const auto lap = std::floor(seconds / m_last) * m_last;
    return {std::max(seconds - lap, 0.0), lap};
}

double Series::At(std::int64_t now) const
{
    return m_timeline.At(PlaceOf(now).seconds);
}

std::int64_t Series::Until(std::int64_t now) const
{
    const auto place = PlaceOf(now);
    const auto next = m_origin < 0 ? std::nullopt : m_timeline.Next(place.seconds);
    // At least a nanosecond on, whatever rounding does.
    return next ? std::max(m_origin + static_cast<std::int64_t>(std::ceil((place.lapStart + *next) * SECOND)), now + 1)
                : NEVER;
}

double Series::AtEnd(std::int64_t now) const
{
    const auto place = PlaceOf(now);
    const auto next = m_origin < 0 ? std::nullopt : m_timeline.Next(place.seconds);
    return next && m_between == Timeline::Between::Line ? m_timeline.At(*next) : m_timeline.At(place.seconds);
}

std::int64_t RateOverTime::Finish(std::int64_t start, std::uint32_t bytes)
{
    double bits = bytes * 8.0;
    for (auto now = start; now - start <= GIVE_UP;)
    {
        const auto until = m_series.Until(now);
        const double first = m_series.At(now);
        const double last = m_series.AtEnd(now);
        const double seconds = static_cast<double>(until - now) / SECOND;
        const double room = (first + last) / 2 * seconds;
        if (room >= bits)
        {
            // bits = first t + (last - first) / (2 seconds) t^2, written so that nothing cancels when the line is flat.
            const double slope = (last - first) / seconds;
            const double time = 2 * bits / (first + std::sqrt(std::max(first * first + 2 * slope * bits, 0.0)));
            return now + std::llround(time * SECOND);
        }
        bits -= room;
        now = until;
    }
    return NEVER;
}

Opportunities::Opportunities(std::vector<std::uint32_t> milliseconds, bool repeat)
    : m_milliseconds(std::move(milliseconds)), m_repeat(repeat)
{
    if (m_milliseconds.empty() || m_milliseconds.back() == 0 || !std::ranges::is_sorted(m_milliseconds))
    {
        throw std::invalid_argument("link: a trace of opportunities is milliseconds that do not fall, the last one above 0");
    }
    m_period = std::int64_t{m_milliseconds.back()} * 1'000'000;
}

double Opportunities::Rate(std::int64_t) const
{
    return static_cast<double>(m_milliseconds.size()) * BYTES * 8 * SECOND / static_cast<double>(m_period);
}

void Opportunities::Begin(std::int64_t now)
{
    m_lap = now;
    m_next = 0;
    m_left = 0;
}

std::int64_t Opportunities::TimeOfNext() const
{
    return m_next < m_milliseconds.size() ? m_lap + std::int64_t{m_milliseconds[m_next]} * 1'000'000 : NEVER;
}

void Opportunities::Step()
{
    if (++m_next == m_milliseconds.size() && m_repeat)
    {
        m_next = 0;
        m_lap += m_period;
    }
}

void Opportunities::Seek(std::int64_t start)
{
    if (TimeOfNext() >= start)
    {
        return;
    }
    if (m_repeat && start - m_lap > m_period)
    {
        m_lap += (start - m_lap) / m_period * m_period;
        m_next = 0;
    }
    const auto wanted = start - m_lap;
    const auto found = std::partition_point(m_milliseconds.begin() + static_cast<std::ptrdiff_t>(m_next),
                                            m_milliseconds.end(),
                                            [wanted](std::uint32_t at) { return std::int64_t{at} * 1'000'000 < wanted; });
    m_next = static_cast<std::size_t>(found - m_milliseconds.begin());
    if (m_next == m_milliseconds.size() && m_repeat)
    {
        m_next = 0;
        m_lap += m_period;
    }
}

std::int64_t Opportunities::Finish(std::int64_t start, std::uint32_t bytes)
{
    if (start > m_current)
    {
        m_left = 0;
        Seek(start);
    }
    while (bytes > m_left)
    {
        bytes -= m_left;
        m_left = 0;
        if (TimeOfNext() - start > GIVE_UP)
        {
            return NEVER;
        }
        m_current = TimeOfNext();
        m_left = BYTES;
        Step();
    }
    m_left -= bytes;
    return m_current;
}

} // namespace netboxit::link
