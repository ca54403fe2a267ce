// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../engine/segment.h"

#include "ns3/nstime.h"
#include "ns3/random-variable-stream.h"

namespace netboxit
{

/// Rain over one station, after ITU-R P.1853-2, Annex 1, 2.2: a Gaussian process with an exponential autocorrelation, of which a
/// log-normal attenuation is made for the way up and one for the way down. Sampled once a second of the weather.
class RainSeries
{
  public:
    /// `rain` as parameters.py writes it: {"uplink": {mean, deviation, offset}, "downlink": {…}, "speed_up", "begins_with" or null}.
    RainSeries(const Json& rain, std::int64_t stream);

    /// The series begins now, as it stands, or so that it first has the attenuation `begins_with` on the uplink.
    void Begin(ns3::Time now);
    /// Takes the series on to `now`, and says when it will be another.
    ns3::Time Advance(ns3::Time now);

    /// dB, now.
    double Up() const
    {
        return m_up.At(m_state);
    }
    double Down() const
    {
        return m_down.At(m_state);
    }

  private:
    /// ln A is normal with this mean and standard deviation; `offset` (dB) is taken off, so that it rains for no more than it does.
    struct Distribution
    {
        explicit Distribution(const Json& said);
        double At(double state) const;
        double StateOf(double attenuation) const;

        double mean;
        double deviation;
        double offset;
    };

    Distribution m_up;
    Distribution m_down;
    double m_step; ///< s of the network's time between samples
    std::optional<double> m_first;
    ns3::Ptr<ns3::NormalRandomVariable> m_noise;
    double m_state{};
    ns3::Time m_next;
};

} // namespace netboxit
