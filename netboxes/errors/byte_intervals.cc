// SPDX-License-Identifier: GPL-2.0-or-later
#include "byte_intervals.h"

#include "chance.h"

namespace netboxit::errors
{

ByteIntervals::ByteIntervals(queueing::Chance chance) : m_chance(std::move(chance))
{
}

void ByteIntervals::Set(const Json& value, std::int64_t)
{
    m_mean = value.at("interval");
    m_isUniform = value.at("distribution") == "uniform";
    m_rest = FirstDistance();
}

double ByteIntervals::Distance()
{
    return m_isUniform ? 2 * m_mean * m_chance() : Exponential(m_mean, m_chance);
}

double ByteIntervals::FirstDistance()
{
    // Of a renewal process the distance x to the next error has the density (1 - F(x)) / mean; here its distribution is inverted.
    return m_isUniform ? 2 * m_mean * (1 - std::sqrt(1 - m_chance())) : Exponential(m_mean, m_chance);
}

bool ByteIntervals::IsLost(const Transmission& frame)
{
    m_rest -= frame.bytes;
    const bool hit = m_rest <= 0;
    while (m_rest <= 0)
    {
        m_rest += Distance();
    }
    return hit;
}

} // namespace netboxit::errors
