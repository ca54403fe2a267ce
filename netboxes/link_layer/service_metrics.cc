// SPDX-License-Identifier: GPL-2.0-or-later
#include "service_metrics.h"

#include <algorithm>

namespace netboxit::multiservice
{

void ServiceMetrics::Measure(const ServiceStatistics& statistics)
{
    const auto difference = [](std::uint64_t now, std::uint64_t before)
    { return static_cast<double>(static_cast<std::int64_t>(now - before)); };
    const auto sent = difference(statistics.sentBytes, m_before.sentBytes);
    const auto delivered = difference(statistics.delivered, m_before.delivered);
    // One that was given up can come after all, in a later interval.
    const auto lost = std::max(0.0, difference(statistics.lost, m_before.lost));
    if (sent > 0)
    {
        Report(m_goodput, difference(statistics.sentDataBytes, m_before.sentDataBytes) / sent);
    }
    if (delivered + lost > 0)
    {
        Report(m_loss, lost / (delivered + lost));
    }
    if (delivered > 0)
    {
        Report(m_delay, static_cast<double>(statistics.delay - m_before.delay) / delivered / 1e9);
    }
    m_before = statistics;
}

void ServiceMetrics::Restart(const ServiceStatistics& statistics)
{
    m_before = statistics;
    m_goodput = m_loss = m_delay = std::nullopt;
}

std::optional<double> ServiceMetrics::EffectiveGoodput(const ServiceMetrics& sender, const ServiceMetrics& receiver)
{
    return sender.m_goodput ? std::optional(*sender.m_goodput * (1 - receiver.m_loss.value_or(0))) : std::nullopt;
}

void ServiceMetrics::Report(std::optional<double>& metric, double latest) const
{
    metric = metric ? m_smoothing * *metric + (1 - m_smoothing) * latest : latest;
}

} // namespace netboxit::multiservice
