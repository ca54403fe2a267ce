// SPDX-License-Identifier: GPL-2.0-or-later
#include "gilbert_elliott.h"

namespace netboxit::errors
{

GilbertElliott::GilbertElliott(queueing::Chance chance) : m_chance(std::move(chance))
{
}

void GilbertElliott::Set(const Json& value)
{
    m_goodToBad = value.at("good_to_bad");
    m_badToGood = value.at("bad_to_good");
    m_lossInGood = value.at("loss_in_good");
    m_lossInBad = value.at("loss_in_bad");
    // It begins in its stationary distribution, so that short runs are as lossy as long ones.
    const double sum = m_goodToBad + m_badToGood;
    m_bad = m_goodToBad > 0 && m_chance() * sum < m_goodToBad;
}

bool GilbertElliott::IsLost()
{
    if (m_goodToBad > 0 && m_chance() < (m_bad ? m_badToGood : m_goodToBad))
    {
        m_bad = !m_bad;
    }
    return IsLost(m_bad ? m_lossInBad : m_lossInGood);
}

bool GilbertElliott::IsLost(double probability)
{
    return probability > 0 && (probability >= 1 || m_chance() < probability);
}

} // namespace netboxit::errors
