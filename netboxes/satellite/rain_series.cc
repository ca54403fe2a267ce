// SPDX-License-Identifier: GPL-2.0-or-later
#include "rain_series.h"

#include <algorithm>
#include <cmath>

namespace netboxit
{

namespace
{

/// P.1853-2, Annex 1, 2.2, step B: beta, 1/s; step C1: sampling interval, s.
constexpr double BETA = 2e-4;
constexpr double SAMPLE = 1.0;

} // namespace

RainSeries::Distribution::Distribution(const Json& said)
    : mean(said.at("mean")), deviation(said.at("deviation")), offset(said.at("offset"))
{
}

double RainSeries::Distribution::At(double state) const
{
    return std::max(0.0, std::exp(mean + deviation * state) - offset);
}

double RainSeries::Distribution::StateOf(double attenuation) const
{
    return (std::log(attenuation + offset) - mean) / deviation;
}

RainSeries::RainSeries(const Json& rain, std::int64_t stream)
    : m_up(rain.at("uplink")), m_down(rain.at("downlink")), m_step(SAMPLE / rain.at("speed_up").get<double>()),
      m_noise(ns3::CreateObject<ns3::NormalRandomVariable>())
{
    m_noise->SetStream(stream);
    if (!rain.at("begins_with").is_null())
    {
        m_first = m_up.StateOf(rain.at("begins_with"));
    }
    // The process is stationary from the start, where the Recommendation throws the first 200 000 samples away.
    m_state = m_first.value_or(m_noise->GetValue());
}

void RainSeries::Begin(ns3::Time now)
{
    m_state = m_first.value_or(m_state);
    m_next = now + ns3::Seconds(m_step);
}

ns3::Time RainSeries::Advance(ns3::Time now)
{
    const double kept = std::exp(-BETA * SAMPLE);
    for (; m_next <= now; m_next += ns3::Seconds(m_step))
    {
        m_state = kept * m_state + std::sqrt(1.0 - kept * kept) * m_noise->GetValue();
    }
    return m_next;
}

} // namespace netboxit
