// SPDX-License-Identifier: GPL-2.0-or-later
#include "errors.h"

#include <cmath>

namespace netboxit::link
{

GilbertElliott::GilbertElliott(std::int64_t stream) : m_random(ns3::CreateObject<ns3::UniformRandomVariable>())
{
    m_random->SetStream(stream);
}

void GilbertElliott::Set(const Json& value)
{
    m_goodToBad = value.at("good_to_bad");
    m_badToGood = value.at("bad_to_good");
    m_lossInGood = value.at("loss_in_good");
    m_lossInBad = value.at("loss_in_bad");
    // It begins in its stationary distribution, so that short runs are as lossy as long ones.
    const double sum = m_goodToBad + m_badToGood;
    m_bad = m_goodToBad > 0 && m_random->GetValue() * sum < m_goodToBad;
}

bool GilbertElliott::IsLost()
{
    if (m_goodToBad > 0 && m_random->GetValue() < (m_bad ? m_badToGood : m_goodToBad))
    {
        m_bad = !m_bad;
    }
    return IsLost(m_bad ? m_lossInBad : m_lossInGood);
}

bool GilbertElliott::IsLost(double probability)
{
    return probability > 0 && (probability >= 1 || m_random->GetValue() < probability);
}

BitErrors::BitErrors(std::int64_t stream) : m_random(ns3::CreateObject<ns3::UniformRandomVariable>())
{
    m_random->SetStream(stream);
}

void BitErrors::SetRate(double rate)
{
    m_rate = rate;
    m_next = IsNone() ? 0 : Distance();
}

std::uint64_t BitErrors::Distance()
{
    // Geometric, by inversion; the bound keeps it in the type.
    const double correct = std::log1p(-m_random->GetValue()) / std::log1p(-m_rate);
    return static_cast<std::uint64_t>(std::min(correct, 1e18));
}

bool BitErrors::Hit(std::uint64_t bits, std::span<std::uint8_t> bytes)
{
    if (IsNone())
    {
        return false;
    }
    const bool hit = m_next < bits;
    for (; m_next < bits; m_next += 1 + Distance())
    {
        if (m_next / 8 < bytes.size())
        {
            bytes[m_next / 8] ^= static_cast<std::uint8_t>(0x80 >> m_next % 8);
        }
    }
    m_next -= bits;
    return hit;
}

} // namespace netboxit::link
