// SPDX-License-Identifier: GPL-2.0-or-later
#include "kingman.h"

#include <algorithm>
#include <utility>

namespace netboxit
{

namespace
{

/// From this utilisation on the formula grows beyond all bounds.
constexpr double SATURATED = 0.99;

double Seconds(std::int64_t ns)
{
    return static_cast<double>(ns) / 1e9;
}

} // namespace

void Moments::Add(double value)
{
    ++m_count;
    const double distance = value - m_mean;
    m_mean += distance / static_cast<double>(m_count);
    m_squares += distance * (value - m_mean);
}

void Kingman::Arrives(std::int64_t now)
{
    if (m_arrived)
    {
        m_intervals.Add(Seconds(now - *m_arrived));
    }
    m_arrived = now;
}

void Kingman::Leaves(std::int64_t since, std::int64_t now)
{
    m_services.Add(Seconds(now - std::max(m_left, since)));
    m_left = now;
}

std::optional<Kingman::Estimate> Kingman::Take()
{
    const auto intervals = std::exchange(m_intervals, {});
    const auto services = std::exchange(m_services, {});
    if (intervals.Count() < 2 || services.Count() < 2 || services.Mean() <= 0.0)
    {
        return std::nullopt;
    }
    if (services.Mean() >= SATURATED * intervals.Mean())
    {
        return Estimate{intervals.Mean() > 0.0 ? services.Mean() / intervals.Mean() : 1.0, std::nullopt};
    }
    const double utilisation = services.Mean() / intervals.Mean();
    const double variation = (intervals.SquaredVariation() + services.SquaredVariation()) / 2.0;
    return Estimate{utilisation, utilisation / (1.0 - utilisation) * variation * services.Mean()};
}

} // namespace netboxit
