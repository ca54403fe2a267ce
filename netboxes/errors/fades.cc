// SPDX-License-Identifier: GPL-2.0-or-later
#include "fades.h"

#include "chance.h"

namespace netboxit::errors
{

namespace
{

constexpr auto NEVER = std::numeric_limits<std::int64_t>::max();

} // namespace

Fades::Fades(queueing::Chance chance) : m_chance(std::move(chance))
{
}

void Fades::Set(double good, double bad, std::int64_t now)
{
    GoOnTo(now);
    m_meanGood = good;
    m_meanBad = bad;
    if (m_until != NEVER)
    {
        m_until = m_reached + Draw(); // exponential times have no memory
    }
}

void Fades::Begin(std::int64_t now)
{
    m_isBad = false;
    m_reached = now;
    m_until = now + Draw();
}

bool Fades::IsBad(std::int64_t at)
{
    GoOnTo(at);
    return m_isBad;
}

void Fades::GoOnTo(std::int64_t at)
{
    while (m_until <= at)
    {
        Turn();
    }
    m_reached = std::max(m_reached, at);
}

void Fades::Turn()
{
    m_isBad = !m_isBad;
    m_until += Draw();
}

std::int64_t Fades::Draw()
{
    return std::max<std::int64_t>(1, std::llround(1e9 * Exponential(m_isBad ? m_meanBad : m_meanGood, m_chance)));
}

} // namespace netboxit::errors
