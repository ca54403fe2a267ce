// SPDX-License-Identifier: GPL-2.0-or-later
#include "fair_budget.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace netboxit::middleware
{

FairBudget::FairBudget(Rate rate)
    : m_rate(std::max<Rate>(rate, 0))
{
}

void FairBudget::SetRate(Rate rate)
{
    m_rate = std::max<Rate>(rate, 0);
}

void FairBudget::Join(std::uint32_t members)
{
    if (members > std::numeric_limits<std::uint32_t>::max() - m_members)
    {
        throw std::overflow_error("a link has at most 4294967295 members");
    }
    m_members += members;
}

void FairBudget::Leave(std::uint32_t members)
{
    if (members > m_members)
    {
        throw std::underflow_error("more members leave a link than it has");
    }
    m_members -= members;
}

Rate FairBudget::Share() const
{
    return m_rate / std::max(m_members, 1U);
}

Rate FairBudget::Assigned() const
{
    return Share() * m_members;
}

} // namespace netboxit::middleware
