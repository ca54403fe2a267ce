// SPDX-License-Identifier: GPL-2.0-or-later
#include "jitter.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace netboxit::link
{

namespace
{

/// The smallest u of 1 - u that a Pareto value is made of: 1e-12 bounds it at 10 000 times the scale for shape 3.
constexpr double SMALLEST = 1e-12;
/// As in iproute2's table: a quarter normal, three quarters Pareto.
constexpr double NORMAL_SHARE = 0.25;
constexpr double PARETO_SHARE = 0.75;

} // namespace

Jitter::Gaussian::Gaussian(std::int64_t stream) : m_random(ns3::CreateObject<ns3::NormalRandomVariable>())
{
    m_random->SetStream(stream);
}

double Jitter::Gaussian::Draw(double correlation)
{
    const double fresh = m_random->GetValue();
    m_last = m_begun ? correlation * m_last + std::sqrt(1 - correlation * correlation) * fresh : fresh;
    m_begun = true;
    return m_last;
}

Jitter::Jitter(std::int64_t stream)
    : m_first(stream), m_second(stream + 1), m_uniform(ns3::CreateObject<ns3::UniformRandomVariable>())
{
    m_uniform->SetStream(stream + 2);
}

void Jitter::Set(const Json& value)
{
    static const std::map<std::string, Kind> kinds{{"constant", Kind::Constant},
                                                   {"uniform", Kind::Uniform},
                                                   {"normal", Kind::Normal},
                                                   {"pareto", Kind::Pareto},
                                                   {"pareto-normal", Kind::ParetoNormal},
                                                   {"table", Kind::Table}};
    const double deviation = value.at("deviation");
    const std::string name = value.at("distribution");
    const auto kind = kinds.find(name);
    if (kind == kinds.end())
    {
        throw OutOfRange("link: no distribution " + name);
    }
    m_kind = kind->second != Kind::Table && deviation == 0 ? Kind::Constant : kind->second;
    m_mayReorder = value.at("reorder");
    m_deviation = deviation;
    m_shape = value.at("shape");
    m_correlation = value.at("correlation");
    m_table = m_kind == Kind::Table ? value.at("table").get<std::vector<double>>() : std::vector<double>{};
    std::ranges::sort(m_table);
}

double Jitter::Draw()
{
    switch (m_kind)
    {
    case Kind::Uniform:
        return m_deviation * std::sqrt(3.0) * (2 * UniformDraw() - 1);
    case Kind::Normal:
        return m_deviation * m_first.Draw(m_correlation);
    case Kind::Pareto:
        return m_deviation * ParetoDraw();
    case Kind::ParetoNormal:
        return m_deviation * (NORMAL_SHARE * m_second.Draw(m_correlation) + PARETO_SHARE * ParetoDraw()) /
               std::hypot(NORMAL_SHARE, PARETO_SHARE);
    case Kind::Table:
        return TableDraw();
    case Kind::Constant:
        break;
    }
    return 0.0;
}

double Jitter::UniformDraw()
{
    return m_correlation == 0 ? m_uniform->GetValue() : std::erfc(-m_first.Draw(m_correlation) / std::sqrt(2.0)) / 2;
}

double Jitter::ParetoDraw()
{
    // Scale 1: mean a / (a - 1), variance a / ((a - 1)^2 (a - 2)); shifted and scaled to mean 0 and deviation 1.
    const double value = std::pow(std::max(1 - UniformDraw(), SMALLEST), -1 / m_shape);
    const double mean = m_shape / (m_shape - 1);
    return (value - mean) * (m_shape - 1) * std::sqrt((m_shape - 2) / m_shape);
}

double Jitter::TableDraw()
{
    // The quantile function of the measured values, straight lines between their order statistics.
    const double place = UniformDraw() * static_cast<double>(m_table.size() - 1);
    const auto below = std::min(static_cast<std::size_t>(place), m_table.size() - 1);
    const auto above = std::min(below + 1, m_table.size() - 1);
    return m_table[below] + (m_table[above] - m_table[below]) * (place - static_cast<double>(below));
}

} // namespace netboxit::link
