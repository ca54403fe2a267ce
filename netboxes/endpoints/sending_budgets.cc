// SPDX-License-Identifier: GPL-2.0-or-later
#include "sending_budgets.h"

#include <algorithm>
#include <utility>

namespace netboxit
{

namespace
{

/// Whether what leaves by the way's interface for `peer` does reach the link.
bool Reaches(const SendingBudgets::Way& way, const middleware::HostAddress& peer)
{
    return std::ranges::none_of(way.beside, [&](const middleware::Prefix& network) { return network.Contains(peer); });
}

template <typename Connections>
std::ptrdiff_t CountOf(const SendingBudgets::Way& way, const Connections& connections)
{
    return std::ranges::count_if(connections, [&](const auto& connection) { return Reaches(way, connection.peer); });
}

} // namespace

SendingBudgets::Place::Place(std::shared_ptr<SendingBudgets> budgets) : m_budgets(std::move(budgets))
{
}

SendingBudgets::Place::Place(const Place& other) : m_budgets(other.m_budgets)
{
}

SendingBudgets::Place::~Place()
{
    End();
}

void SendingBudgets::Place::Begin(Sender& sender, const ns3::Ptr<ns3::NetDevice>& device, const middleware::HostAddress& peer)
{
    m_sender = &sender;
    m_device = device;
    m_budgets->m_connections[device].push_back({&sender, peer});
    m_budgets->Changed(device);
}

void SendingBudgets::Place::End()
{
    if (const auto* const sender = std::exchange(m_sender, nullptr))
    {
        std::erase_if(m_budgets->m_connections[m_device], [&](const Connection& of) { return of.sender == sender; });
        m_budgets->Changed(m_device);
    }
}

bool SendingBudgets::IsUsed(const Way& way) const
{
    return CountOf(way, By(way.device)) > 0;
}

void SendingBudgets::Watch(const std::string& link, std::function<void()> changed)
{
    m_watchers[link] = std::move(changed);
}

void SendingBudgets::Changed(const ns3::Ptr<ns3::NetDevice>& device) const
{
    Tell(device);
    for (const auto& [link, changed] : m_watchers)
    {
        if (changed)
        {
            changed();
        }
    }
}

void SendingBudgets::Set(const std::string& link, const Way& way, std::optional<middleware::Rate> budget)
{
    const auto before = std::exchange(m_budgets[link], {way, budget});
    if (before.way.device && before.way.device != way.device)
    {
        Tell(before.way.device);
    }
    Tell(way.device);
}

const SendingBudgets::Connections& SendingBudgets::By(const ns3::Ptr<ns3::NetDevice>& device) const
{
    static const Connections NONE;
    const auto found = m_connections.find(device);
    return found == m_connections.end() ? NONE : found->second;
}

void SendingBudgets::Tell(const ns3::Ptr<ns3::NetDevice>& device) const
{
    const auto& connections = By(device);
    std::vector<std::pair<const Way*, middleware::Rate>> shares;
    for (const auto& [link, budget] : m_budgets)
    {
        const auto count = budget.way.device == device && budget.rate ? CountOf(budget.way, connections) : 0;
        if (count > 0)
        {
            shares.emplace_back(&budget.way, *budget.rate / count);
        }
    }
    for (const auto& [sender, peer] : connections)
    {
        std::optional<middleware::Rate> least;
        for (const auto& [way, share] : shares)
        {
            if (Reaches(*way, peer))
            {
                least = std::min(least.value_or(share), share);
            }
        }
        sender->UseShare(least);
    }
}

} // namespace netboxit
