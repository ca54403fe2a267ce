// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "rain_series.h"

#include "../engine/timeline.h"

namespace netboxit
{

/// What attenuates the signals of one station, or of all: a number that can be changed, a profile over time, rain.
class Sky
{
  public:
    /// From the parameters `fade`, `fade_up`, `fade_down`, `fade_profile` and `rain`, those of them that there are; `stream` is for the rain.
    explicit Sky(const Json& parameters, std::int64_t stream = 0);

    /// The time of profiles and series begins now.
    void Begin(ns3::Time now);
    /// Takes it on to `now`, and says when it will be another; never when it stays as it is.
    std::optional<ns3::Time> Advance(ns3::Time now);

    /// dB, on the way to the satellite and from it.
    double Up() const
    {
        return fade + fadeUp + m_profiled + (m_rain ? m_rain->Up() : 0.0);
    }
    double Down() const
    {
        return fade + fadeDown + m_profiled + (m_rain ? m_rain->Down() : 0.0);
    }

    /// dB of the profile alone.
    double Profiled() const
    {
        return m_profiled;
    }

    /// Live parameters, dB.
    double fade{};
    double fadeUp{};
    double fadeDown{};

  private:
    std::optional<ns3::Time> AdvanceProfile(ns3::Time now);

    std::optional<Timeline> m_profile;
    std::optional<RainSeries> m_rain;
    std::optional<ns3::Time> m_began;
    double m_profiled{};
};

} // namespace netboxit
