// SPDX-License-Identifier: GPL-2.0-or-later
#include "independent.h"

#include "chance.h"

namespace netboxit::errors
{

Independent::Independent(queueing::Chance chance) : m_chance(std::move(chance))
{
}

bool Independent::IsLost(const Transmission&)
{
    return Happens(m_probability, m_chance);
}

void Independent::Set(const Json& value, std::int64_t)
{
    m_probability = value.at("probability");
}

} // namespace netboxit::errors
