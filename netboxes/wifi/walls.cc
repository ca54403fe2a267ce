// SPDX-License-Identifier: GPL-2.0-or-later
#include "walls.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

namespace netboxit
{

namespace
{

using ns3::Building;

const std::map<std::string, Building::ExtWallsType_t> MATERIALS{
    {"wood", Building::Wood},
    {"concrete-with-windows", Building::ConcreteWithWindows},
    {"concrete-without-windows", Building::ConcreteWithoutWindows},
    {"stone", Building::StoneBlocks},
};
const std::map<std::string, Building::BuildingType_t> USES{
    {"residential", Building::Residential},
    {"office", Building::Office},
    {"commercial", Building::Commercial},
};

/// dB, as ns-3's BuildingsPropagationLossModel::ExternalWallLoss has them.
double LossOf(Building::ExtWallsType_t walls)
{
    switch (walls)
    {
    case Building::Wood:
        return 4.0;
    case Building::ConcreteWithWindows:
        return 7.0;
    case Building::StoneBlocks:
        return 12.0;
    case Building::ConcreteWithoutWindows:
        return 15.0;
    }
    return 0.0;
}

/// Distance power loss coefficient N and floor penetration loss (dB) of ITU-R P.1238, Tables 2 and 3, at the values that ns-3's
/// ItuR1238PropagationLossModel takes.
struct Indoor
{
    double coefficient;
    double firstFloor;
    double furtherFloor;
};

Indoor IndoorOf(Building::BuildingType_t use)
{
    switch (use)
    {
    case Building::Residential:
        return {28.0, 4.0, 4.0};
    case Building::Office:
        return {30.0, 15.0, 4.0};
    case Building::Commercial:
        return {22.0, 6.0, 3.0};
    }
    return {30.0, 15.0, 4.0};
}

} // namespace

Walls::Walls(const std::vector<BuildingPlan>& plans)
{
    for (const auto& plan : plans)
    {
        auto building = ns3::CreateObject<Building>();
        building->SetBoundaries(
            ns3::Box(plan.low.x, plan.high.x, plan.low.y, plan.high.y, plan.low.z, plan.high.z));
        building->SetExtWallsType(MATERIALS.at(plan.walls));
        building->SetBuildingType(USES.at(plan.use));
        building->SetNFloors(plan.floors);
        m_buildings.push_back(building);
    }
}

double Walls::OuterLoss(const ns3::Vector& a, const ns3::Vector& b) const
{
    double loss = 0.0;
    for (const auto& building : m_buildings)
    {
        const int inside = building->IsInside(a) + building->IsInside(b);
        const int crossed = inside == 1 ? 1 : inside == 0 && building->IsIntersect(a, b) ? 2 : 0;
        loss += crossed * LossOf(building->GetExtWallsType());
    }
    return loss;
}

std::optional<double>
Walls::IndoorLoss(const ns3::Vector& a, const ns3::Vector& b, double frequency) const
{
    const auto both = std::ranges::find_if(
        m_buildings, [&](const auto& building) { return building->IsInside(a) && building->IsInside(b); });
    if (both == m_buildings.end())
    {
        return std::nullopt;
    }
    const auto indoor = IndoorOf((*both)->GetBuildingType());
    const int floors = std::abs((*both)->GetFloor(a) - (*both)->GetFloor(b));
    // The formula holds from 1 m on.
    const double distance = std::max(ns3::CalculateDistance(a, b), 1.0);
    return 20.0 * std::log10(frequency / 1e6) + indoor.coefficient * std::log10(distance) - 28.0 +
           (floors > 0 ? indoor.firstFloor + (floors - 1) * indoor.furtherFloor : 0.0);
}

} // namespace netboxit
