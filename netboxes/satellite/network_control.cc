// SPDX-License-Identifier: GPL-2.0-or-later
#include "network_control.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace netboxit
{

namespace
{

/// How many of slots that come at `perSuperframe` fall into this superframe: on average just so many, and the same in any run. `phase`
/// (0 … 1) keeps those of several terminals from falling into the same ones.
std::uint32_t Portion(double perSuperframe, std::int64_t superframe, double phase)
{
    const auto until = [&](double number) { return std::floor(number * perSuperframe + phase + 1e-9); };
    const auto number = static_cast<double>(superframe);
    return static_cast<std::uint32_t>(until(number + 1.0) - until(number));
}

} // namespace

NetworkControl::NetworkControl(std::vector<Terminal> terminals, Payload payload)
    : m_payload(std::move(payload)), m_plan(terminals.size()), m_demands(terminals.size()), m_order(terminals.size())
{
    for (const auto& classes : terminals)
    {
        auto& accounts = m_accounts.emplace_back();
        for (const auto& parameters : classes)
        {
            accounts.push_back({.parameters = parameters, .rate = 0.0, .rateUntil = {}, .volume = 0.0});
        }
        m_plan[m_accounts.size() - 1].volume.resize(classes.size());
    }
}

void NetworkControl::Receive(const CapacityRequest& request)
{
    const auto place = std::ranges::upper_bound(m_pending, request.arrival, {}, &CapacityRequest::arrival);
    m_pending.insert(place, request);
}

void NetworkControl::Accept(const CapacityRequest& request)
{
    auto& account = m_accounts[request.terminal][request.requestClass];
    switch (request.method)
    {
    case Method::Rbdc:
        account.rate = std::min(request.amount, account.parameters.rbdcMaximum);
        account.rateUntil = request.arrival + ns3::Seconds(account.parameters.rbdcTimeout);
        break;
    case Method::Vbdc:
        account.volume = std::min(account.volume + request.amount, account.parameters.vbdcMaximum);
        break;
    case Method::Avbdc:
        account.volume = std::min(request.amount, account.parameters.vbdcMaximum);
        break;
    case Method::Cra:
    case Method::Fca:
        break;
    }
}

const std::vector<Assignment>& NetworkControl::Plan(std::int64_t superframe,
                                                    double duration,
                                                    std::uint32_t slots,
                                                    std::uint32_t each,
                                                    ns3::Time deadline)
{
    for (; !m_pending.empty() && m_pending.front().arrival <= deadline; m_pending.pop_front())
    {
        Accept(m_pending.front());
    }
    m_left = slots;
    m_each = each;
    m_deadline = deadline;
    for (auto& assignment : m_plan)
    {
        assignment.slots.fill(0);
        std::ranges::fill(assignment.volume, 0.0);
    }
    std::size_t classes = 0;
    for (const auto& accounts : m_accounts)
    {
        classes = std::max(classes, accounts.size());
    }
    for (const auto method : {Method::Cra, Method::Rbdc, Method::Vbdc, Method::Avbdc})
    {
        for (std::size_t requestClass = 0; requestClass < classes; ++requestClass)
        {
            Share(method, requestClass, superframe, duration);
        }
    }
    ShareFree(superframe);
    std::uint32_t position = 0;
    for (auto& assignment : m_plan)
    {
        assignment.first = position;
        position += assignment.Slots();
    }
    return m_plan;
}

void NetworkControl::Share(Method method, std::size_t requestClass, std::int64_t superframe, double duration)
{
    for (std::size_t terminal = 0; terminal < m_accounts.size(); ++terminal)
    {
        const auto& accounts = m_accounts[terminal];
        const bool asks = requestClass < accounts.size() && accounts[requestClass].parameters.Uses(method);
        m_demands[terminal] = asks ? Demand(terminal, accounts[requestClass], method, superframe, duration) : 0;
    }
    Grant(superframe);
    for (std::size_t terminal = 0; terminal < m_accounts.size(); ++terminal)
    {
        if (m_demands[terminal] == 0)
        {
            continue;
        }
        m_plan[terminal].slots[static_cast<std::size_t>(method)] += m_demands[terminal];
        if (method == Method::Vbdc || method == Method::Avbdc)
        {
            auto& volume = m_accounts[terminal][requestClass].volume;
            const double served = std::min(volume, m_demands[terminal] * m_payload(terminal));
            volume -= served;
            m_plan[terminal].volume[requestClass] = served;
        }
    }
}

std::uint32_t NetworkControl::Demand(std::size_t terminal,
                                     const Account& account,
                                     Method method,
                                     std::int64_t superframe,
                                     double duration) const
{
    const double payload = m_payload(terminal);
    if (payload <= 0.0)
    {
        return 0;
    }
    const double bitsPerSlot = 8.0 * payload;
    const double phase = static_cast<double>(terminal) / static_cast<double>(m_accounts.size());
    switch (method)
    {
    case Method::Cra:
        return Portion(account.parameters.craRate * duration / bitsPerSlot, superframe, phase);
    case Method::Rbdc:
        return account.rateUntil < m_deadline ? 0 : Portion(account.rate * duration / bitsPerSlot, superframe, phase);
    case Method::Vbdc:
    case Method::Avbdc:
        return static_cast<std::uint32_t>(std::min(std::ceil(account.volume / payload), 1e9));
    case Method::Fca:
        break;
    }
    return 0;
}

void NetworkControl::ShareFree(std::int64_t superframe)
{
    for (std::size_t terminal = 0; terminal < m_accounts.size(); ++terminal)
    {
        const bool takes = std::ranges::any_of(m_accounts[terminal], [](const Account& a) { return a.parameters.Uses(Method::Fca); });
        m_demands[terminal] = takes && m_payload(terminal) > 0.0 ? m_each : 0;
    }
    Grant(superframe);
    for (std::size_t terminal = 0; terminal < m_accounts.size(); ++terminal)
    {
        m_plan[terminal].slots[static_cast<std::size_t>(Method::Fca)] = m_demands[terminal];
    }
}

void NetworkControl::Grant(std::int64_t superframe)
{
    for (std::size_t terminal = 0; terminal < m_demands.size(); ++terminal)
    {
        m_demands[terminal] = std::min(m_demands[terminal], Room(terminal));
    }
    // Those who want least first; among equals another one in each superframe, and the other way round each time, so that remainders
    // go round, among any of them.
    std::iota(m_order.begin(), m_order.end(), 0);
    std::ranges::rotate(m_order, m_order.begin() + static_cast<std::ptrdiff_t>(Modulo(superframe, m_order.size())));
    if (Modulo(superframe / static_cast<std::int64_t>(m_order.size()), 2) == 1)
    {
        std::ranges::reverse(m_order);
    }
    std::ranges::stable_sort(m_order, {}, [this](std::size_t terminal) { return m_demands[terminal]; });
    auto asking = static_cast<std::uint32_t>(m_order.size());
    for (const auto terminal : m_order)
    {
        auto& demand = m_demands[terminal];
        demand = std::min(demand, m_left / asking);
        m_left -= demand;
        --asking;
    }
}

std::uint32_t NetworkControl::Room(std::size_t terminal) const
{
    return m_each - m_plan[terminal].Slots();
}

bool NetworkControl::IsIdle() const
{
    if (!m_pending.empty())
    {
        return false;
    }
    for (const auto& accounts : m_accounts)
    {
        for (const auto& account : accounts)
        {
            if (account.volume > 0.0 || (account.rate > 0.0 && account.rateUntil >= m_deadline))
            {
                return false;
            }
        }
    }
    return true;
}

void NetworkControl::SetCraRate(std::size_t terminal, double rate)
{
    m_accounts[terminal].back().parameters.craRate = rate;
}

void NetworkControl::SetRbdcMaximum(std::size_t terminal, double rate)
{
    auto& account = m_accounts[terminal].back();
    account.parameters.rbdcMaximum = rate;
    account.rate = std::min(account.rate, rate);
}

} // namespace netboxit
