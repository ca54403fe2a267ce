// SPDX-License-Identifier: GPL-2.0-or-later
#include "sending_budgets.h"

#include <algorithm>
#include <utility>

namespace netboxit
{

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

void SendingBudgets::Place::Begin(Sender& sender, const ns3::Ptr<ns3::NetDevice>& device)
{
    m_sender = &sender;
    m_device = device;
    m_budgets->m_senders[device].push_back(&sender);
    m_budgets->Changed(device, 1);
}

void SendingBudgets::Place::End()
{
    if (const auto* const sender = std::exchange(m_sender, nullptr))
    {
        std::erase(m_budgets->m_senders[m_device], sender);
        m_budgets->Changed(m_device, 0);
    }
}

bool SendingBudgets::IsUsed(const ns3::Ptr<ns3::NetDevice>& device) const
{
    const auto found = m_senders.find(device);
    return found != m_senders.end() && !found->second.empty();
}

void SendingBudgets::Watch(const std::string& link, std::function<void()> changed)
{
    m_watchers[link] = std::move(changed);
}

/// `few`: so many senders are there when the first one has come, or the last one has gone.
void SendingBudgets::Changed(const ns3::Ptr<ns3::NetDevice>& device, std::size_t few) const
{
    Tell(device);
    if (m_senders.at(device).size() == few)
    {
        for (const auto& [link, changed] : m_watchers)
        {
            if (changed)
            {
                changed();
            }
        }
    }
}

void SendingBudgets::Set(const std::string& link, const ns3::Ptr<ns3::NetDevice>& device, std::optional<middleware::Rate> budget)
{
    const auto before = std::exchange(m_budgets[link], {device, budget});
    if (before.device && before.device != device)
    {
        Tell(before.device);
    }
    Tell(device);
}

void SendingBudgets::Tell(const ns3::Ptr<ns3::NetDevice>& device) const
{
    if (!IsUsed(device))
    {
        return;
    }
    std::optional<middleware::Rate> least;
    for (const auto& [link, budget] : m_budgets)
    {
        if (budget.device == device && budget.rate)
        {
            least = std::min(least.value_or(*budget.rate), *budget.rate);
        }
    }
    const auto& senders = m_senders.at(device);
    for (auto* const sender : senders)
    {
        sender->UseShare(least ? std::optional(*least / static_cast<middleware::Rate>(senders.size())) : std::nullopt);
    }
}

} // namespace netboxit
