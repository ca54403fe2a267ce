// SPDX-License-Identifier: GPL-2.0-or-later
#include "sky.h"

#include <algorithm>

namespace netboxit
{

namespace
{

/// How often a profile is looked at between two of its points: ten times a second, as often as fade is measured in ACM loops.
const ns3::Time PROFILE_STEP = ns3::MilliSeconds(100);

bool IsGiven(const Json& parameters, const char* name)
{
    return parameters.contains(name) && !parameters.at(name).is_null();
}

double NumberOf(const Json& parameters, const char* name)
{
    return IsGiven(parameters, name) ? parameters.at(name).get<double>() : 0.0;
}

} // namespace

Sky::Sky(const Json& parameters, std::int64_t stream)
    : fade(NumberOf(parameters, "fade")), fadeUp(NumberOf(parameters, "fade_up")), fadeDown(NumberOf(parameters, "fade_down"))
{
    if (IsGiven(parameters, "fade_profile"))
    {
        m_profile.emplace(parameters.at("fade_profile"), Timeline::Between::Line);
        m_profiled = m_profile->At(0.0);
    }
    if (IsGiven(parameters, "rain"))
    {
        m_rain.emplace(parameters.at("rain"), stream);
    }
}

void Sky::Begin(ns3::Time now)
{
    m_began = now;
    if (m_rain)
    {
        m_rain->Begin(now);
    }
}

std::optional<ns3::Time> Sky::Advance(ns3::Time now)
{
    if (!m_began)
    {
        return std::nullopt;
    }
    auto next = m_profile ? AdvanceProfile(now) : std::nullopt;
    if (m_rain)
    {
        const auto sample = m_rain->Advance(now);
        next = next ? std::min(*next, sample) : sample;
    }
    return next;
}

std::optional<ns3::Time> Sky::AdvanceProfile(ns3::Time now)
{
    const double elapsed = (now - *m_began).GetSeconds();
    m_profiled = m_profile->At(elapsed);
    const auto point = m_profile->Next(elapsed);
    if (!point)
    {
        return std::nullopt;
    }
    // Rounded up, so that it is past the point when its time has come.
    const auto at = *m_began + ns3::Seconds(*point) + ns3::NanoSeconds(1);
    return m_profile->At(*point) == m_profiled ? at : std::min(at, now + PROFILE_STEP);
}

} // namespace netboxit
