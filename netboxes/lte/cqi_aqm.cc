// SPDX-License-Identifier: GPL-2.0-or-later
#include "cqi_aqm.h"

#include <algorithm>

namespace netboxit
{

namespace
{

/// TS 36.213, Table 7.2.3-1. Index 0, out of range, counts as the worst that can be sent with.
constexpr int WORST_QUALITY = 1;
constexpr int BEST_QUALITY = 15;

double Cube(double value)
{
    return value * value * value;
}

} // namespace

double CqiAqm::ProbabilityOf(double delay, int quality, const Settings& settings)
{
    if (delay <= settings.delayMin)
    {
        return 0.0;
    }
    if (delay >= settings.delayMax)
    {
        return 1.0;
    }
    const auto share = static_cast<double>(std::clamp(quality, WORST_QUALITY, BEST_QUALITY)) / BEST_QUALITY;
    return 1.0 - (settings.delayMax - delay) / (settings.delayMax - settings.delayMin) * Cube(share);
}

void CqiAqm::Enqueue(const queueing::Waiting& frame, std::int64_t now, double rate)
{
    if (m_settings.emptyReset && Waits().IsEmpty() && !Bearer().head())
    {
        m_probability = 0.0;
    }
    if (m_probability > 0.0 && m_chance() < m_probability)
    {
        Drop(frame, Loss::QueueEarly);
        return;
    }
    Fifo::Enqueue(frame, now, rate);
}

void CqiAqm::Left(std::int64_t since, std::int64_t now)
{
    m_probability = ProbabilityOf(static_cast<double>(now - since) / 1e9, Bearer().quality(), m_settings);
}

Json CqiAqm::Read(std::int64_t) const
{
    return {{"probability", m_probability}};
}

} // namespace netboxit
