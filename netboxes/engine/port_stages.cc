// SPDX-License-Identifier: GPL-2.0-or-later
#include "port_stages.h"

#include <algorithm>

namespace netboxit
{

namespace
{

/// Without a rate `mark` marks all packets; of each other kind it is the link's.
bool Follows(const Json& stage)
{
    return stage.is_object() && stage.value("stage", "") != "mark" && stage.contains("rate") && stage["rate"].is_null();
}

/// The stages with the rate of the link where they follow it.
Json With(Json stages, double linkRate)
{
    /// A link that is down carries nothing; stages divide by the rate.
    constexpr double LEAST = 1e3;
    for (auto& stage : stages)
    {
        if (Follows(stage))
        {
            stage["rate"] = std::max(linkRate, LEAST);
        }
    }
    return stages;
}

} // namespace

PortStages::PortStages(const Configuration& configuration, const Announce& announce)
{
    for (const auto& station : configuration.stations)
    {
        const auto number = m_ports.size();
        m_stations.push_back(station.name);
        const auto own = [announce, id = static_cast<StationId>(number)](std::string_view event, const Json& details)
        { announce(id, event, details); };
        m_ports.push_back({.chain = stages::Chain(configuration.seed, number, own)});
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
        auto& port = m_ports[station];
        port.chain.Set(With(stages, port.linkRate), now);
        port.said = stages;
    }
    catch (const std::exception& error)
    {
        throw OutOfRange(error.what());
    }
}

bool PortStages::FollowLinks() const
{
    return std::ranges::any_of(m_ports, [](const Port& port) { return std::ranges::any_of(port.said, Follows); });
}

void PortStages::SetLinkRate(StationId station, double rate, std::int64_t now)
{
    auto& port = m_ports[station];
    port.linkRate = rate;
    if (std::ranges::any_of(port.said, Follows))
    {
        port.chain.Set(With(port.said, rate), now);
    }
}

Json PortStages::Read(std::int64_t now) const
{
    auto read = Json::object();
    for (StationId station = 0; station < m_ports.size(); ++station)
    {
        if (Has(station))
        {
            read[m_stations[station]] = m_ports[station].chain.Read(now);
        }
    }
    return read;
}

void PortStages::AddTo(Json& stations, std::int64_t now) const
{
    for (StationId station = 0; station < m_ports.size(); ++station)
    {
        if (Has(station))
        {
            m_ports[station].chain.AddTo(stations[m_stations[station]], now);
        }
    }
}

} // namespace netboxit
