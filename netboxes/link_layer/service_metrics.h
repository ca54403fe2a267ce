// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "service_statistics.h"

#include <optional>

namespace netboxit::multiservice
{

/// What a service at one end is like (section 8.3, T8.1), over measurement intervals. Each is smoothed with what was reported
/// before, as TCP does with round-trip times. Nothing before the first interval in which there was something to measure.
class ServiceMetrics
{
  public:
    /// `smoothing`: weight of what was reported before, from 0 to below 1.
    void SetSmoothing(double smoothing)
    {
        m_smoothing = smoothing;
    }

    /// An interval ends.
    void Measure(const ServiceStatistics& statistics);
    /// The next interval begins with these counts, and nothing was reported before.
    void Restart(const ServiceStatistics& statistics);

    /// Bytes of the upper layer by all bytes that the service sent: of the direction in which this end sends.
    std::optional<double> Goodput() const
    {
        return m_goodput;
    }

    /// Share of the packets that do not arrive after all recovery: of the direction in which this end receives.
    std::optional<double> Loss() const
    {
        return m_loss;
    }

    /// Mean one-way delay of packets, s, without queueing: of the direction in which this end receives.
    std::optional<double> Delay() const
    {
        return m_delay;
    }

    /// Bytes that arrive by bytes that are sent, e = g(1 - l): of the direction from one end to the other.
    static std::optional<double> EffectiveGoodput(const ServiceMetrics& sender, const ServiceMetrics& receiver);

  private:
    void Report(std::optional<double>& metric, double latest) const;

    double m_smoothing{0};
    ServiceStatistics m_before{};
    std::optional<double> m_goodput;
    std::optional<double> m_loss;
    std::optional<double> m_delay;
};

} // namespace netboxit::multiservice
