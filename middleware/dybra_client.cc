// SPDX-License-Identifier: GPL-2.0-or-later
#include "dybra_client.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace netboxit::middleware
{

namespace
{

constexpr Rate THOUSAND = 1000;

} // namespace

DybraClient::DybraClient(unsigned threshold)
    : m_threshold(threshold)
{
    if (threshold > THOUSAND)
    {
        throw std::invalid_argument("DyBRA's threshold is 0 to 1000 thousandths, not " + std::to_string(threshold));
    }
}

bool DybraClient::IsBelow(Rate access, Rate reference) const
{
    return access < reference && access * THOUSAND <= reference * (THOUSAND - m_threshold);
}

bool DybraClient::Assess(Rate share, std::uint32_t good, Rate access)
{
    if (!m_state.isBad)
    {
        if (!IsBelow(access, share))
        {
            return false;
        }
        m_state = {.isBad = true, .rate = access};
        return true;
    }
    if (share + (good == 0 ? m_state.rate : 0) <= access)
    {
        m_state = {};
        return true;
    }
    const bool isAbove = access > m_state.rate && access * THOUSAND >= m_state.rate * (THOUSAND + m_threshold);
    if (IsBelow(access, m_state.rate) || isAbove)
    {
        m_state.rate = access;
        return true;
    }
    return false;
}

void DybraClient::Set(const DybraState& state)
{
    m_state = state;
}

Rate DybraClient::Budget(Rate share, Rate access) const
{
    return m_state.isBad ? std::min(m_state.rate, access) : share;
}

} // namespace netboxit::middleware
