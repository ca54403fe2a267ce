// SPDX-License-Identifier: GPL-2.0-or-later
#include "gilbert_elliott.h"

#include "chance.h"

namespace netboxit::errors
{

GilbertElliott::GilbertElliott(queueing::Chance chance) : m_chance(std::move(chance))
{
}

void GilbertElliott::Set(const Json& value, std::int64_t)
{
    m_goodToBad = value.at("good_to_bad");
    m_badToGood = value.at("bad_to_good");
    m_lossInGood = value.at("loss_in_good");
    m_lossInBad = value.at("loss_in_bad");
    // It begins in its stationary distribution, so that short runs are as lossy as long ones.
    const double sum = m_goodToBad + m_badToGood;
    m_bad = m_goodToBad > 0 && m_chance() * sum < m_goodToBad;
}

bool GilbertElliott::IsLost(const Transmission&)
{
    if (m_goodToBad > 0 && m_chance() < (m_bad ? m_badToGood : m_goodToBad))
    {
        m_bad = !m_bad;
    }
    return Happens(m_bad ? m_lossInBad : m_lossInGood, m_chance);
}

} // namespace netboxit::errors
