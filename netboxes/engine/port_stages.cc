// SPDX-License-Identifier: GPL-2.0-or-later
#include "port_stages.h"

namespace netboxit
{

PortStages::PortStages(const Configuration& configuration)
{
    for (const auto& station : configuration.stations)
    {
        const auto number = m_chains.size();
        m_stations.push_back(station.name);
        m_chains.emplace_back(configuration.seed, number);
        const auto said = configuration.stages.find(station.name);
        if (said == configuration.stages.end())
        {
            continue;
        }
        try
        {
            Set(static_cast<StationId>(number), *said, 0);
        }
        catch (const OutOfRange& error)
        {
            throw BadConfiguration("stages." + station.name + ": " + error.what());
        }
    }
}

void PortStages::Set(StationId station, const Json& stages, std::int64_t now)
{
    try
    {
        m_chains[station].Set(stages, now);
    }
    catch (const std::exception& error)
    {
        throw OutOfRange(error.what());
    }
}

Json PortStages::Read(std::int64_t now) const
{
    auto read = Json::object();
    for (StationId station = 0; station < m_chains.size(); ++station)
    {
        if (Has(station))
        {
            read[m_stations[station]] = m_chains[station].Read(now);
        }
    }
    return read;
}

void PortStages::AddTo(Json& stations, std::int64_t now) const
{
    const auto all = Read(now);
    for (const auto& [station, read] : all.items())
    {
        auto& own = stations[station];
        for (auto stage : read)
        {
            const auto kind = stage["stage"].get<std::string>();
            stage.erase("stage");
            auto name = kind;
            for (int further = 2; own.contains(name); ++further)
            {
                name = kind + '-' + std::to_string(further);
            }
            own[name] = std::move(stage);
        }
    }
}

} // namespace netboxit
