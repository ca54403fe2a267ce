// SPDX-License-Identifier: GPL-2.0-or-later
#include "circle.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace netboxit
{

Circle::Circle(const nlohmann::json& stations,
               const std::vector<std::string>& names,
               std::string_view central,
               double distance,
               std::int64_t firstStream)
    : m_count(names.size())
{
    const auto middle = std::ranges::find_if(names, [&](const auto& name) { return stations.at(name).at("role") == central; });
    if (middle != names.end())
    {
        m_central = static_cast<std::size_t>(middle - names.begin());
    }
    for (std::size_t id = 0; id < m_count; ++id)
    {
        const auto& station = stations.at(names[id]);
        const bool ownDistance = !station.at("distance").is_null();
        const double metres = ownDistance ? station.at("distance").get<double>() : distance;
        m_places.push_back({.motion = Motion::From(station, OnIt(id, metres), firstStream + static_cast<std::int64_t>(id)),
                            .own = ownDistance || Motion::IsSaid(station)});
    }
}

void Circle::Begin()
{
    for (const auto& place : m_places)
    {
        place.motion->Begin();
    }
}

bool Circle::Moves() const
{
    return std::ranges::any_of(m_places, [](const Place& place) { return place.motion->Moves(); });
}

ns3::Vector Circle::OnIt(std::size_t station, double distance) const
{
    const double radius = !m_central ? distance / 2 : station == *m_central ? 0.0 : distance;
    const auto others = static_cast<double>(m_central ? m_count - 1 : m_count);
    const auto number = static_cast<double>(m_central && station > *m_central ? station - 1 : station);
    const double angle = 2.0 * std::numbers::pi * number / others;
    return {radius * std::cos(angle), radius * std::sin(angle), 0.0};
}

void Circle::SetDistance(std::optional<std::size_t> station, double metres)
{
    for (std::size_t id = 0; id < m_count; ++id)
    {
        auto& place = m_places[id];
        if (station ? id == *station : !place.own)
        {
            place.own = station.has_value();
            place.motion->SetPosition(OnIt(id, metres));
        }
    }
}

void Circle::SetPosition(std::size_t station, const ns3::Vector& position)
{
    m_places.at(station).own = true;
    m_places.at(station).motion->SetPosition(position);
}

} // namespace netboxit
