// SPDX-License-Identifier: GPL-2.0-or-later
#include "path_delay.h"

#include "../engine/nature.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace netboxit
{

namespace
{

double Radians(const Json& degrees)
{
    return degrees.get<double>() * std::numbers::pi / 180.0;
}

/// The angle at the earth's centre between a station and the point below a satellite that it sees at this elevation.
double CentralAngle(double elevation, double radius)
{
    return std::acos(std::clamp(EARTH_RADIUS * std::cos(elevation) / radius, -1.0, 1.0)) - elevation;
}

} // namespace

Orbit::Orbit(const Json& parameters)
{
    m_radius = EARTH_RADIUS + parameters.at("altitude").get<double>();
    const double turning = EARTH_ROTATION * std::cos(Radians(parameters.at("inclination")));
    m_angularSpeed = std::sqrt(EARTH_GRAVITATION / (m_radius * m_radius * m_radius)) - turning;
    m_nearest = CentralAngle(Radians(parameters.at("highest_elevation")), m_radius);
    const double farthest = CentralAngle(Radians(parameters.at("minimum_elevation")), m_radius);
    const double pass = 2.0 * std::acos(std::clamp(std::cos(farthest) / std::cos(m_nearest), -1.0, 1.0)) / m_angularSpeed;
    m_period = parameters.at("every").is_null() ? pass : parameters.at("every").get<double>();
    m_gap = std::min(m_period, std::max(parameters.at("gap").get<double>(), m_period - pass));
    m_served = std::min(pass, m_period);
}

double Orbit::DelayAt(double seconds) const
{
    const double phase = std::min(seconds - m_period * std::floor(seconds / m_period), m_served);
    const double angle = m_angularSpeed * (phase - m_served / 2.0);
    const double cosine = std::cos(m_nearest) * std::cos(angle);
    const double range =
        std::sqrt(EARTH_RADIUS * EARTH_RADIUS + m_radius * m_radius - 2.0 * EARTH_RADIUS * m_radius * cosine);
    return 2.0 * range / SPEED_OF_LIGHT;
}

PathDelay::PathDelay(const Json& parameters) : m_constant(parameters.at("delay"))
{
    if (!parameters.at("delay_profile").is_null())
    {
        m_profile.emplace(parameters.at("delay_profile"), Timeline::Between::Line);
    }
    if (!parameters.at("orbit").is_null())
    {
        m_orbit.emplace(parameters.at("orbit"));
    }
    for (const auto& gap : parameters.at("delay_gaps"))
    {
        m_gaps.push_back({gap.at(0), gap.at(1)});
    }
}

ns3::Time PathDelay::At(ns3::Time now) const
{
    if (IsConstant())
    {
        return ns3::Seconds(m_constant);
    }
    const double elapsed = m_began ? (now - *m_began).GetSeconds() : 0.0;
    return ns3::Seconds(m_orbit ? m_orbit->DelayAt(elapsed) : m_profile->At(elapsed));
}

std::optional<Gap> PathDelay::NextGap(double seconds) const
{
    if (m_orbit && m_orbit->Gap() > 0.0)
    {
        const double period = m_orbit->Period();
        auto number = std::floor(seconds / period);
        // What ends now is over: times are rounded to nanoseconds.
        if ((number + 1.0) * period <= seconds + 1e-6)
        {
            ++number;
        }
        return Gap{(number + 1.0) * period - m_orbit->Gap(), m_orbit->Gap()};
    }
    const auto next = std::ranges::find_if(m_gaps, [&](const Gap& gap) { return gap.start + gap.duration > seconds + 1e-6; });
    return next == m_gaps.end() ? std::nullopt : std::optional(*next);
}

} // namespace netboxit
