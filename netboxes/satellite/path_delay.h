// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../engine/timeline.h"

#include "ns3/nstime.h"

namespace netboxit
{

/// A satellite after another on one circular orbit, as a station below sees them. Closed forms: two-body motion over a sphere.
class Orbit
{
  public:
    /// From {altitude (m), minimum_elevation, highest_elevation, inclination (degrees), every (s) or null, gap (s)}.
    explicit Orbit(const Json& parameters);

    /// From ground to ground, s: the satellite's distance twice, the hub being beside its terminals.
    double DelayAt(double seconds) const;
    /// While a satellite is used, s: from one change to the next.
    double Period() const
    {
        return m_period;
    }
    /// At the end of each period, s: nobody can be reached.
    double Gap() const
    {
        return m_gap;
    }

  private:
    double m_radius;       ///< m, from the earth's centre
    double m_angularSpeed; ///< rad/s, as seen from the turning earth
    double m_nearest;      ///< rad at the earth's centre, when it culminates
    double m_served;       ///< s within a period in which it is used
    double m_period;
    double m_gap;
};

/// An interruption of the whole link.
struct Gap
{
    double start; ///< s since time 0
    double duration;
};

/// How long signals take from ground to ground, over time.
class PathDelay
{
  public:
    explicit PathDelay(const Json& parameters);

    void Begin(ns3::Time now)
    {
        m_began = now;
    }
    ns3::Time At(ns3::Time now) const;
    /// Whether a number of its own says it, which can be changed.
    bool IsConstant() const
    {
        return !m_profile && !m_orbit;
    }
    void Set(double delay)
    {
        m_constant = delay;
    }

    /// The satellite changes so often, s.
    std::optional<double> HandoverPeriod() const
    {
        return m_orbit ? std::optional(m_orbit->Period()) : std::nullopt;
    }
    /// The first gap that starts at `seconds` or later, or that lasts then.
    std::optional<Gap> NextGap(double seconds) const;
    ns3::Time Began() const
    {
        return m_began.value_or(ns3::Time{});
    }

  private:
    double m_constant;
    std::optional<Timeline> m_profile;
    std::optional<Orbit> m_orbit;
    std::vector<Gap> m_gaps;
    std::optional<ns3::Time> m_began;
};

} // namespace netboxit
