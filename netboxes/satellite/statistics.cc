// SPDX-License-Identifier: GPL-2.0-or-later
#include "satellite.h"

#include "ns3/simulator.h"

namespace netboxit
{

namespace
{

/// `rate` (bit/s) is of the profile `reference`.
Json Direction(const AdaptiveCoding& coding, const Profile& reference, double rate)
{
    const auto& used = coding.UsedProfile();
    return {{"es_n0", coding.EsN0()},
            {"margin", coding.Margin()},
            {"profile", used.name},
            {"efficiency", used.Efficiency()},
            {"rate", rate * used.Efficiency() / reference.Efficiency()}};
}

double RateOf(const Sender& carrier)
{
    return dynamic_cast<const Carrier&>(carrier).Rate();
}

} // namespace

Json SatelliteSegment::Read() const
{
    Json stations = Json::object();
    for (StationId id = 0; id < m_stations.size(); ++id)
    {
        const auto& station = m_stations[id];
        const auto& filler = station.sender->Filler();
        Json byClass = Json::object();
        for (ClassId trafficClass = 0; trafficClass < m_classes.size(); ++trafficClass)
        {
            byClass[m_classes[trafficClass]] = filler.NotBegun(trafficClass).bytes;
        }
        Json read{{"queue", filler.ReadQueue()},
                  {"queued_bytes_by_class", byClass},
                  {"utilisation", station.sender->Utilisation()},
                  {"fade_up", station.sky->Up() + m_sky.fade + m_sky.Profiled()},
                  {"fade_down", station.sky->Down() + m_sky.fade + m_sky.Profiled()},
                  {"lost", station.lost.ReadOccurred()}};
        station.sender->Read(read);
        if (IsTerminal(id))
        {
            const auto& link = Link(id);
            read["up"] = link.down ? 0 : 1;
            read["link_losses"] = link.downs;
            read["delay"] = DelayBetween(id, m_gateway).GetSeconds();
            read["forward"] = Direction(link.forward, m_forwardProfiles.Reference(), RateOf(*m_stations[m_gateway].sender));
            const double rate = m_shared ? m_returnChannel->Rate() : RateOf(*station.sender);
            read["return"] = Direction(link.back, m_returnProfiles.Reference(), rate);
        }
        stations[station.name] = read;
    }
    return {{"stations", stations}};
}

void SatelliteSegment::Reset()
{
    for (auto& station : m_stations)
    {
        station.lost = {};
        station.sender->Reset();
    }
    for (const auto terminal : m_terminals)
    {
        Link(terminal).downs = 0;
    }
}

} // namespace netboxit
