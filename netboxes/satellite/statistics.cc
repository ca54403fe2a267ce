// SPDX-License-Identifier: GPL-2.0-or-later
#include "satellite.h"

#include "ns3/simulator.h"

namespace netboxit
{

namespace
{

/// bit/s with the coding that is used, where `rate` is that of the profile `reference`.
double RateWith(const AdaptiveCoding& coding, const Profile& reference, double rate)
{
    return rate * coding.UsedProfile().Efficiency() / reference.Efficiency();
}

/// `rate` (bit/s) is of the profile `reference`.
Json Direction(const AdaptiveCoding& coding, const Profile& reference, double rate)
{
    const auto& used = coding.UsedProfile();
    return {{"es_n0", coding.EsN0()},
            {"margin", coding.Margin()},
            {"profile", used.name},
            {"efficiency", used.Efficiency()},
            {"rate", RateWith(coding, reference, rate)}};
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

double SatelliteSegment::ReturnRate(StationId terminal) const
{
    const auto& link = Link(terminal);
    const double rate = m_shared ? m_returnChannel->Rate() : RateOf(*m_stations[terminal].sender);
    return link.down ? 0 : RateWith(link.back, m_returnProfiles.Reference(), rate);
}

double SatelliteSegment::ForwardRate(StationId terminal) const
{
    const auto& link = Link(terminal);
    return link.down ? 0 : RateWith(link.forward, m_forwardProfiles.Reference(), RateOf(*m_stations[m_gateway].sender));
}

std::optional<LinkState> SatelliteSegment::StateOf(StationId station) const
{
    if (IsTerminal(station))
    {
        return LinkState{.transmit = static_cast<std::uint64_t>(ReturnRate(station)),
                         .receive = static_cast<std::uint64_t>(ForwardRate(station)),
                         .latency = DelayBetween(station, m_gateway).GetNanoSeconds()};
    }
    // A hub has a rate to each of its terminals: the best of them, as a modem tells that of its carrier.
    LinkState state;
    for (const auto terminal : m_terminals)
    {
        state.transmit = std::max(state.transmit, static_cast<std::uint64_t>(ForwardRate(terminal)));
        state.receive = std::max(state.receive, static_cast<std::uint64_t>(ReturnRate(terminal)));
        state.latency = std::max(state.latency, DelayBetween(m_gateway, terminal).GetNanoSeconds());
    }
    return state;
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
