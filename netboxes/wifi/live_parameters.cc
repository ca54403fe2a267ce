// SPDX-License-Identifier: GPL-2.0-or-later
#include "live_parameters.h"

#include "../engine/station_parameter.h"
#include "../mobility/motion.h"

#include <algorithm>

namespace netboxit
{

namespace
{

ns3::Vector AccessPointOf(const CellPlan& plan, const Cell& cell)
{
    const auto point = std::ranges::find_if(plan.stations, &StationPlan::accessPoint);
    return point == plan.stations.end() ? ns3::Vector{}
                                        : cell.motions[point - plan.stations.begin()]->GetPosition();
}

ns3::Vector CheckPosition(const CellPlan& plan, const Json& value)
{
    const auto position = VectorOf(value);
    if (plan.propagation.model == "two-ray" && position.z + plan.propagation.antennaHeight <= 0.0)
    {
        throw OutOfRange("wifi: with two-ray propagation antennas are above the ground: z and antenna_height together over 0 m");
    }
    return position;
}

void SetOfStation(CellPlan& plan, const Cell& cell, StationId id, std::string_view parameter, const Json& value)
{
    auto& station = plan.stations[id];
    if (parameter == "position")
    {
        cell.motions[id]->SetPosition(CheckPosition(plan, value));
        station.ownPlace = true;
        return;
    }
    if (parameter == "distance" && (plan.mode != Mode::Infrastructure || station.accessPoint))
    {
        throw UnknownParameter("wifi: only stations of an access point have a `distance` of their own; set `position`");
    }
    const double checked = value;
    if (parameter == "distance")
    {
        station.distance = checked;
        station.ownPlace = true;
        cell.motions[id]->SetPosition(plan.PlaceOf(id, AccessPointOf(plan, cell)));
    }
    else if (parameter == "fade")
    {
        cell.propagation->SetFade(id, checked);
    }
    else
    {
        station.txPower = checked;
        station.ownTxPower = true;
        SetTxPower(cell.devices[id], checked);
    }
}

} // namespace

void SetLive(CellPlan& plan,
             const Cell& cell,
             const std::vector<std::string>& stations,
             std::string_view parameter,
             const Json& value)
{
    const auto target = TargetOf(parameter, stations);
    if (target.station)
    {
        SetOfStation(plan, cell, *target.station, target.parameter, value);
        return;
    }
    const double checked = value;
    if (parameter == "fade")
    {
        cell.propagation->SetFade(checked);
        return;
    }
    const auto accessPoint = AccessPointOf(plan, cell);
    for (StationId id = 0; id < plan.stations.size(); ++id)
    {
        auto& station = plan.stations[id];
        if (parameter == "distance" && !station.ownPlace)
        {
            station.distance = checked;
            if (!station.accessPoint)
            {
                cell.motions[id]->SetPosition(plan.PlaceOf(id, accessPoint));
            }
        }
        else if (parameter == "tx_power" && !station.ownTxPower)
        {
            station.txPower = checked;
            SetTxPower(cell.devices[id], checked);
        }
    }
}

} // namespace netboxit
