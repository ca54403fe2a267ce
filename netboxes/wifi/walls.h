// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "plan.h"

#include "ns3/building.h"

#include <optional>

namespace netboxit
{

/// Buildings as ns-3 has them: boxes with outer walls of a material, floors and a use.
class Walls
{
  public:
    explicit Walls(const std::vector<BuildingPlan>& plans);

    /// The outer walls between two places (dB): one of a building in which one of them is, two of each that the straight
    /// line between them crosses. The losses by material are those of ns-3's BuildingsPropagationLossModel.
    double OuterLoss(const ns3::Vector& a, const ns3::Vector& b) const;

    /// The whole loss between two places in the same building (dB) by ITU-R P.1238, which counts its rooms and floors in; none
    /// when they are not in the same one.
    std::optional<double> IndoorLoss(const ns3::Vector& a, const ns3::Vector& b, double frequency) const;

    bool AreNone() const
    {
        return m_buildings.empty();
    }

  private:
    std::vector<ns3::Ptr<ns3::Building>> m_buildings;
};

} // namespace netboxit
