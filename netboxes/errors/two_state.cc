// SPDX-License-Identifier: GPL-2.0-or-later
#include "two_state.h"

#include <cmath>

namespace netboxit::errors
{

TwoState::TwoState(queueing::Chance chance, queueing::Chance ofFades) : m_chance(std::move(chance)), m_fades(std::move(ofFades))
{
}

void TwoState::Set(const Json& value, std::int64_t now)
{
    m_rightInGood = std::log1p(-value.at("bit_error_rate_in_good").get<double>());
    m_rightInBad = std::log1p(-value.at("bit_error_rate_in_bad").get<double>());
    m_fades.Set(value.at("good"), value.at("bad"), now);
}

void TwoState::Begin(std::int64_t now)
{
    m_fades.Begin(now);
}

bool TwoState::IsLost(const Transmission& frame)
{
    // What takes no time is in one state.
    const double duration = std::max<double>(1, static_cast<double>(frame.end - frame.start));
    const double bits = 8.0 * frame.bytes;
    double survives = 0; // logarithm of the probability
    m_fades.During(frame.start,
                   std::max(frame.end, frame.start + 1),
                   [&](bool isBad, std::int64_t part)
                   { survives += bits * static_cast<double>(part) / duration * (isBad ? m_rightInBad : m_rightInGood); });
    return m_chance() >= std::exp(survives);
}

} // namespace netboxit::errors
