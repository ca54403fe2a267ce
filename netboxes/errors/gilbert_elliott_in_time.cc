// SPDX-License-Identifier: GPL-2.0-or-later
#include "gilbert_elliott_in_time.h"

#include "chance.h"

namespace netboxit::errors
{

GilbertElliottInTime::GilbertElliottInTime(queueing::Chance chance, queueing::Chance ofFades)
    : m_chance(std::move(chance)), m_fades(std::move(ofFades))
{
}

void GilbertElliottInTime::Set(const Json& value, std::int64_t now)
{
    m_lossInGood = value.at("loss_in_good");
    m_lossInBad = value.at("loss_in_bad");
    m_fades.Set(value.at("good"), value.at("bad"), now);
}

void GilbertElliottInTime::Begin(std::int64_t now)
{
    m_fades.Begin(now);
}

bool GilbertElliottInTime::IsLost(const Transmission& frame)
{
    return Happens(m_fades.IsBad(frame.start) ? m_lossInBad : m_lossInGood, m_chance);
}

} // namespace netboxit::errors
