// SPDX-License-Identifier: GPL-2.0-or-later
#include "rate_adaptation.h"

#include <utility>

namespace netboxit
{

namespace
{

/// Yin et al. (SIGCOMM 2015), section 7: the past 5 chunks.
constexpr std::size_t SAMPLES = 5;
/// Huang et al. (SIGCOMM 2014), section 4: of a buffer of 240 s a reservoir of 90 s, and the highest rate from 216 s on.
constexpr double RESERVOIR = 90.0 / 240.0;
constexpr double FULL = 216.0 / 240.0;

} // namespace

RateAdaptation::RateAdaptation(Rule rule, std::vector<double> rates, double safety, double longest)
    : m_rule(rule), m_rates(std::move(rates)), m_safety(safety), m_longest(longest)
{
}

void RateAdaptation::Add(double throughput)
{
    m_throughputs.push_back(throughput);
    if (m_throughputs.size() > SAMPLES)
    {
        m_throughputs.pop_front();
    }
}

std::optional<double> RateAdaptation::Estimate() const
{
    if (m_throughputs.empty())
    {
        return std::nullopt;
    }
    double inverse = 0;
    for (const double throughput : m_throughputs)
    {
        inverse += 1 / throughput;
    }
    return static_cast<double>(m_throughputs.size()) / inverse;
}

std::size_t RateAdaptation::Choose(double level)
{
    m_chosen = m_rule == Rule::Throughput ? ByThroughput() : ByBuffer(level);
    return m_chosen;
}

std::size_t RateAdaptation::ByThroughput() const
{
    const double carried = m_safety * Estimate().value_or(0);
    std::size_t chosen = 0;
    while (chosen + 1 < m_rates.size() && m_rates[chosen + 1] <= carried)
    {
        ++chosen;
    }
    return chosen;
}

/// BBA-0: Huang et al. (SIGCOMM 2014), algorithm 1. The rate stays until the line from the lowest to the highest one reaches the
/// next higher, or the next lower one.
std::size_t RateAdaptation::ByBuffer(double level) const
{
    const double reservoir = RESERVOIR * m_longest;
    const double full = FULL * m_longest;
    const auto last = m_rates.size() - 1;
    if (level <= reservoir)
    {
        return 0;
    }
    if (level >= full)
    {
        return last;
    }
    const double line = m_rates.front() + (m_rates.back() - m_rates.front()) * (level - reservoir) / (full - reservoir);
    const auto higher = m_chosen == last ? last : m_chosen + 1;
    const auto lower = m_chosen == 0 ? 0 : m_chosen - 1;
    std::size_t chosen = m_chosen;
    if (line >= m_rates[higher])
    {
        chosen = 0;
        while (chosen + 1 < m_rates.size() && m_rates[chosen + 1] < line)
        {
            ++chosen;
        }
    }
    else if (line <= m_rates[lower])
    {
        chosen = last;
        while (chosen > 0 && m_rates[chosen - 1] > line)
        {
            --chosen;
        }
    }
    return chosen;
}

} // namespace netboxit
