// SPDX-License-Identifier: GPL-2.0-or-later
#include "capacity.h"

#include <cmath>

namespace netboxit
{

ConstantCapacity::ConstantCapacity(std::uint32_t bitsPerSlot, double rate)
    : m_bitsPerSlot(bitsPerSlot), m_rate(rate)
{
}

Slot ConstantCapacity::Next(ns3::Time notBefore) const
{
    const double elapsed = (notBefore - m_origin).GetSeconds();
    // The estimate may be one slot early or late by rounding; the comparison decides.
    auto slot = std::max<std::int64_t>(0, static_cast<std::int64_t>(elapsed * m_rate / m_bitsPerSlot) - 1);
    while (Start(slot) < notBefore)
    {
        ++slot;
    }
    return {Start(slot), Start(slot + 1)};
}

void ConstantCapacity::SetRate(double rate, ns3::Time now)
{
    m_origin = Next(now).start;
    m_rate = rate;
}

ns3::Time ConstantCapacity::Start(std::int64_t slot) const
{
    return m_origin +
           ns3::NanoSeconds(std::llround(static_cast<double>(slot) * m_bitsPerSlot / m_rate * 1e9));
}

} // namespace netboxit
