// SPDX-License-Identifier: GPL-2.0-or-later
#include "dybra.h"

#include <stdexcept>

namespace netboxit::middleware
{

Dybra::Dybra(Rate rate, Equations equations)
    : m_rate(rate),
      m_equations(equations),
      m_effective(rate),
      m_good(rate)
{
}

void Dybra::SetEffective(Rate rate)
{
    m_effective = rate;
    m_good.SetRate(rate);
}

void Dybra::SetRate(Rate rate)
{
    SetEffective(m_effective + rate - m_rate);
    m_rate = rate;
}

void Dybra::Join(std::uint32_t members)
{
    m_good.Join(members);
}

void Dybra::LeaveGood(std::uint32_t members)
{
    m_good.Leave(members);
}

void Dybra::Leave(const DybraState& state)
{
    if (!state.isBad)
    {
        m_good.Leave();
        return;
    }
    if (m_bad == 0)
    {
        throw std::underflow_error("a bad member leaves a link that has none");
    }
    --m_bad;
    m_ofBad -= state.rate;
    SetEffective(m_effective + state.rate);
}

Rate Dybra::ShareOfReturned(const DybraState& state) const
{
    const auto members = static_cast<Rate>(m_good.Members()) + 1;
    return (m_effective + state.rate) / members;
}

bool Dybra::Report(DybraState& state, Rate access)
{
    if (!state.isBad)
    {
        // E1, figure 2.31. A member that can use exactly its share is good: the printed client makes it bad, the text does not.
        if (access >= Share())
        {
            return false;
        }
        m_good.Leave();
        ++m_bad;
        m_ofBad += access;
        SetEffective(m_effective - access);
        state = {.isBad = true, .rate = access};
        return true;
    }
    const bool returns = m_equations == Equations::Printed ? access >= Share() : access >= ShareOfReturned(state);
    if (returns)
    {
        Return(state);
        return true;
    }
    // E3, figure 2.33.
    const auto difference = access - state.rate;
    m_ofBad += difference;
    SetEffective(m_effective - difference);
    state.rate = access;
    return difference != 0;
}

bool Dybra::Returns(const DybraState& state) const
{
    return state.isBad && state.rate >= ShareOfReturned(state);
}

void Dybra::Return(DybraState& state)
{
    m_good.Join();
    --m_bad;
    m_ofBad -= state.rate;
    // E2, figure 2.32. As printed, `bad` is already smaller where the share is added.
    SetEffective(m_effective + (m_equations == Equations::Printed ? Share() : state.rate));
    state = {};
}

} // namespace netboxit::middleware
