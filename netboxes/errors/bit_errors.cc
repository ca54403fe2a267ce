// SPDX-License-Identifier: GPL-2.0-or-later
#include "bit_errors.h"

#include <cmath>

namespace netboxit::errors
{

BitErrors::BitErrors(queueing::Chance chance) : m_chance(std::move(chance))
{
}

void BitErrors::SetRate(double rate)
{
    m_rate = rate;
    m_next = IsNone() ? 0 : Distance();
}

std::uint64_t BitErrors::Distance()
{
    // Geometric, by inversion; the bound keeps it in the type.
    const double correct = std::log1p(-m_chance()) / std::log1p(-m_rate);
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

} // namespace netboxit::errors
