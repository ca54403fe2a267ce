// SPDX-License-Identifier: GPL-2.0-or-later
#include "places.h"

#include <algorithm>

namespace netboxit::wimax
{

namespace
{

/// Random streams of walks, one a station, after all others of the cell.
constexpr std::int64_t FIRST_STREAM = 1 << 20;

} // namespace

Places::Places(const SegmentSetup& setup, const Configuration& configuration)
{
    const auto& described = setup.parameters.at("stations");
    for (StationId id = 0; id < configuration.stations.size(); ++id)
    {
        const auto& station = described.at(configuration.stations[id].name);
        m_motions.push_back(Motion::IsSaid(station) ? Motion::From(station, {}, FIRST_STREAM + id) : nullptr);
    }
}

void Places::Begin()
{
    for (const auto& motion : m_motions)
    {
        if (motion)
        {
            motion->Begin();
        }
    }
}

bool Places::Moves() const
{
    return std::ranges::any_of(m_motions, [](const auto& motion) { return motion && motion->Moves(); });
}

ns3::Vector Places::RelativeTo(StationId base, StationId subscriber, double distanceM) const
{
    if (!m_motions[subscriber])
    {
        return {distanceM, 0.0, 0.0};
    }
    const auto there = m_motions[subscriber]->GetPosition();
    const auto here = m_motions[base] ? m_motions[base]->GetPosition() : ns3::Vector();
    return {there.x - here.x, there.y - here.y, there.z - here.z};
}

void Places::Set(StationId station, const Json& position)
{
    const auto there = VectorOf(position);
    if (!m_motions[station])
    {
        m_motions[station] = ns3::CreateObject<Motion>();
    }
    m_motions[station]->SetPosition(there);
}

} // namespace netboxit::wimax
