// SPDX-License-Identifier: GPL-2.0-or-later
#include "live_changes.h"

#include "../engine/station_parameter.h"
#include "../mobility/motion.h"

#include "ns3/lte-enb-rrc.h"

#include <algorithm>

namespace netboxit
{

LiveChanges::LiveChanges(const std::vector<std::string>& stationNames,
                         const std::vector<std::string>& cellNames,
                         const LtePlan& plan,
                         LteNetwork& network,
                         const std::vector<std::unique_ptr<Terminal>>& terminals,
                         BearerQueues& queues,
                         Announcements& announcements)
    : m_names(stationNames), m_cellNames(cellNames), m_plan(plan), m_network(network), m_terminals(terminals),
      m_queues(queues), m_announcements(announcements)
{
}

void LiveChanges::Set(std::string_view name, const Json& value)
{
    const auto [station, parameter] = TargetOf(name, m_names);
    if (!station)
    {
        SetOfNetwork(parameter, value);
    }
    else if (m_terminals[*station])
    {
        SetOfTerminal(*m_terminals[*station], parameter, value);
    }
    else
    {
        throw UnknownParameter("lte: " + m_names[*station] + " is the gateway, of which nothing can be changed");
    }
}

void LiveChanges::SetOfNetwork(std::string_view parameter, const Json& value)
{
    if (parameter == "outage")
    {
        SetOutage(value);
        return;
    }
    if (parameter == "queue")
    {
        m_queues.Set(value);
        return;
    }
    const double checked = value;
    if (parameter == "fade")
    {
        m_network.attenuation->OfAll().fade = checked;
        return;
    }
    if (parameter == "tx_power")
    {
        for (std::size_t i = 0; i < m_plan.enodebs.size(); ++i)
        {
            if (!m_plan.enodebs[i].ownTxPower)
            {
                SetTxPower(m_network.enodebs[i], checked);
            }
        }
        return;
    }
    for (const auto& terminal : m_terminals)
    {
        if (terminal && parameter == "distance" && !terminal->Plan().ownDistance && terminal->Plan().place.empty())
        {
            terminal->TheMotion()->SetPosition(PlaceAround(m_plan, terminal->Id(), checked));
        }
        else if (terminal && parameter == "ue_tx_power" && !terminal->Plan().ownTxPower)
        {
            SetTxPower(terminal->Device(), checked);
        }
    }
}

void LiveChanges::SetOfTerminal(Terminal& terminal, std::string_view parameter, const Json& value)
{
    if (parameter == "handover")
    {
        HandOver(terminal, value);
        return;
    }
    if (parameter == "position")
    {
        terminal.TheMotion()->SetPosition(PositionFrom(value));
        return;
    }
    auto& loss = m_network.attenuation->Of(terminal.TheMotion());
    if (parameter == "outage")
    {
        loss.isOff = value;
        return;
    }
    const double checked = value;
    if (parameter == "distance")
    {
        terminal.TheMotion()->SetPosition(PlaceAround(m_plan, terminal.Id(), checked));
    }
    else if (parameter == "fade")
    {
        loss.fade = checked;
    }
    else
    {
        SetTxPower(terminal.Device(), checked);
    }
}

void LiveChanges::SetOutage(const Json& value)
{
    if (!value.is_boolean() && !value.is_array())
    {
        throw OutOfRange("lte: outage is true (no eNodeB is on the air), false, or a list of eNodeBs, not " + value.dump());
    }
    std::vector<bool> off(m_cellNames.size(), value == true);
    if (value.is_array())
    {
        for (const auto& name : value)
        {
            off[CellOf(name, "outage is of")] = true;
        }
    }
    for (std::size_t i = 0; i < off.size(); ++i)
    {
        m_network.attenuation->Of(m_network.sites[i]).isOff = off[i];
    }
}

std::size_t LiveChanges::CellOf(const Json& name, std::string_view what) const
{
    const auto found =
        name.is_string() ? std::ranges::find(m_cellNames, name.get_ref<const std::string&>()) : m_cellNames.end();
    if (found == m_cellNames.end())
    {
        std::string names;
        for (const auto& cell : m_cellNames)
        {
            names += (names.empty() ? "" : ", ") + cell;
        }
        throw OutOfRange("lte: " + std::string(what) + " one of the eNodeBs " + names + ", not " + name.dump());
    }
    return static_cast<std::size_t>(found - m_cellNames.begin());
}

ns3::Vector LiveChanges::PositionFrom(const Json& value) const
{
    auto position = VectorOf(value);
    if (m_plan.propagation == "okumura-hata" && position.z < 0.0)
    {
        throw OutOfRange("lte: position cannot be " + value.dump() + "; with okumura-hata z is at least 0, a height above ground");
    }
    position.z += m_plan.terminalHeight;
    return position;
}

void LiveChanges::HandOver(Terminal& terminal, const Json& value)
{
    const auto index = CellOf(value, "handover is to");
    const auto reason = terminal.WhyNotTo(index);
    if (!reason.empty())
    {
        m_announcements.Announce(
            "handover_failed", terminal.Id(), {{"to", m_cellNames[index]}, {"reason", reason}});
        return;
    }
    m_network.enodebs[terminal.Cell().value()]->GetRrc()->SendHandoverRequest(terminal.Device()->GetRrc()->GetRnti(),
                                                                              m_network.enodebs[index]->GetCellId());
}

} // namespace netboxit
