// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <nlohmann/json.hpp>

#include "ns3/mobility-model.h"
#include "ns3/random-variable-stream.h"

#include <deque>
#include <vector>

namespace netboxit
{

/// A position as netboxes/mobility/stations.py writes it: [x, y, z] in m.
ns3::Vector VectorOf(const nlohmann::json& position);

/// How a station stands or moves, as netboxes/mobility/stations.py writes it: a position, a path of waypoints, or the random waypoint
/// model (Johnson and Maltz 1996). Time 0 of a path is at Begin(); before, the station stands where it begins.
class Motion : public ns3::MobilityModel
{
  public:
    static ns3::TypeId GetTypeId();

    Motion() = default;

    /// From a station's parameters `position`, `path` or `wander` (base units); `otherwise` is where it stands when all are null.
    static ns3::Ptr<Motion> From(const nlohmann::json& station, const ns3::Vector& otherwise, std::int64_t stream);

    /// Whether the parameters of a station say where it is.
    static bool IsSaid(const nlohmann::json& station);

    /// Its time 0 is now. A random walk starts anew from its first position.
    void Begin();

    /// Whether it has a path or walks, so that its position is its own affair.
    bool Moves() const
    {
        return !m_path.empty() || m_walk.has_value();
    }

  private:
    struct Waypoint
    {
        double time; ///< s since Begin()
        ns3::Vector position;
    };

    struct Walk
    {
        ns3::Vector low;
        ns3::Vector high;
        double slowest; ///< m/s
        double fastest; ///< m/s
        double pause;   ///< s at each waypoint
    };

    ns3::Vector DoGetPosition() const override;
    void DoSetPosition(const ns3::Vector& position) override;
    ns3::Vector DoGetVelocity() const override;

    /// s since Begin(), 0 before.
    double Elapsed() const;
    /// The waypoint after that time, which is the second one at least; of a walk as far as is needed.
    std::size_t NextWaypoint(double time) const;
    void WalkOn() const;

    std::optional<std::int64_t> m_began; ///< ns
    ns3::Vector m_standing;
    /// Of a walk, the part that was needed so far, its beginning forgotten.
    mutable std::deque<Waypoint> m_path;
    std::optional<Walk> m_walk;
    ns3::Ptr<ns3::UniformRandomVariable> m_random;
};

} // namespace netboxit
