// SPDX-License-Identifier: GPL-2.0-or-later
#include "adaptive_coding.h"

#include <algorithm>

namespace netboxit
{

AdaptiveCoding::AdaptiveCoding(const ProfileSet& profiles, AdaptationRules rules, double esN0)
    : m_profiles(profiles.profiles.begin(), profiles.profiles.begin() + static_cast<std::ptrdiff_t>(profiles.usable)), m_rules(rules),
      m_esN0(esN0), m_wanted(Best(esN0 - rules.margin)), m_announced(m_wanted), m_used(m_wanted),
      m_lost(esN0 < MostRobust().LossOfLock())
{
}

void AdaptiveCoding::Measure(double esN0)
{
    m_esN0 = esN0;
    const double back = m_lost ? MostRobust().threshold + m_rules.hysteresis : MostRobust().LossOfLock();
    m_lost = esN0 < back;
    const double usable = esN0 - m_rules.margin;
    if (usable < m_profiles[m_wanted].threshold)
    {
        m_wanted = Best(usable);
    }
    else
    {
        m_wanted = std::max(m_wanted, Best(usable - m_rules.hysteresis));
    }
}

std::size_t AdaptiveCoding::Best(double esN0) const
{
    std::size_t best = 0;
    for (std::size_t i = 1; i < m_profiles.size() && m_profiles[i].threshold <= esN0; ++i)
    {
        best = i;
    }
    return best;
}

} // namespace netboxit
