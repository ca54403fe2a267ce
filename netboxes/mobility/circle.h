// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "motion.h"

#include <optional>
#include <string>

namespace netboxit
{

/// Stations of which some say where they are and others only how far: around a central one at equal angles, or, where none
/// is central, on a circle of that diameter.
class Circle
{
  public:
    /// `stations` by name, as netboxes/mobility/stations.py writes them, each with `role` and `distance` (m, or null); the
    /// first of `names` whose role is `central` stands in the middle. `distance` (m) is that of who has none of its own.
    /// Walks take random streams from `firstStream` on, one a station.
    Circle(const nlohmann::json& stations,
           const std::vector<std::string>& names,
           std::string_view central,
           double distance,
           std::int64_t firstStream);

    std::optional<std::size_t> Central() const
    {
        return m_central;
    }
    const ns3::Ptr<Motion>& At(std::size_t station) const
    {
        return m_places.at(station).motion;
    }

    /// Time 0 of all paths and walks is now.
    void Begin();
    /// Whether any station moves by itself.
    bool Moves() const;
    /// Of all that have no place of their own, or of one, which then has.
    void SetDistance(std::optional<std::size_t> station, double metres);
    void SetPosition(std::size_t station, const ns3::Vector& position);

  private:
    struct Place
    {
        ns3::Ptr<Motion> motion;
        bool own;
    };

    ns3::Vector OnIt(std::size_t station, double distance) const;

    std::size_t m_count;
    std::optional<std::size_t> m_central;
    std::vector<Place> m_places;
};

} // namespace netboxit
