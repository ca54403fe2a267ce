// SPDX-License-Identifier: GPL-2.0-or-later
#include "satellite.h"

#include "ns3/simulator.h"

namespace netboxit
{

namespace
{

/// By how much the link may run ahead of the clock, ns: a five-thousandth of a geostationary hop, and longer than what other netboxes of
/// a shared core may keep it waiting, mostly.
constexpr std::int64_t LEAD = 50'000;

} // namespace

std::int64_t SatelliteSegment::Lead() const
{
    return LEAD;
}

void SatelliteSegment::Transmit(StationId from, Destination to, const Frame& frame)
{
    Send(from, {.frame = frame, .from = from, .to = to, .entered = ns3::Simulator::Now()});
}

void SatelliteSegment::Send(StationId sender, const Packet& packet)
{
    auto& carrier = *m_stations.at(sender).sender;
    if (!carrier.Filler().Carries(packet.frame))
    {
        Lose(sender, packet, Loss::Unsupported);
    }
    else if (IsCutOff(sender, packet))
    {
        Lose(sender, packet, Loss::Outage);
    }
    else
    {
        carrier.Enqueue(packet);
    }
}

void SatelliteSegment::Depart(StationId sender, const Packet& packet, ns3::Time sent)
{
    if (IsCutOff(sender, packet))
    {
        Lose(sender, packet, Loss::Outage);
        return;
    }
    // Everybody's copies of what is for everyone take as long as those of the terminal that is farthest.
    ns3::Time delay{};
    if (sender != m_gateway)
    {
        delay = DelayBetween(sender, m_mesh && packet.to.station ? *packet.to.station : m_gateway);
    }
    else
    {
        for (const auto terminal : m_terminals)
        {
            if (!packet.to.station || *packet.to.station == terminal)
            {
                delay = std::max(delay, DelayBetween(m_gateway, terminal));
            }
        }
    }
    if (sent + delay - packet.entered > LONGEST_LIFE)
    {
        Lose(sender, packet, Loss::QueueExpired);
        return;
    }
    ns3::Simulator::Schedule(sent + delay - ns3::Simulator::Now(), &SatelliteSegment::Arrive, this, sender, packet);
}

void SatelliteSegment::Arrive(StationId sender, const Packet& packet)
{
    if (IsTerminal(sender) && Link(sender).down)
    {
        Lose(sender, packet, Loss::Outage);
    }
    else if (sender != m_gateway && !m_mesh)
    {
        ArriveAtHub(sender, packet);
    }
    else if (packet.to.station)
    {
        ArriveAt(*packet.to.station, sender, packet);
    }
    else
    {
        for (StationId receiver = 0; receiver < m_stations.size(); ++receiver)
        {
            if (receiver != sender && receiver != packet.from)
            {
                ArriveAt(receiver, sender, packet);
            }
        }
    }
}

void SatelliteSegment::ArriveAtHub(StationId terminal, const Packet& packet)
{
    if (IsCorrupted(terminal, m_gateway, packet))
    {
        Lose(terminal, packet, Loss::OnAir);
        return;
    }
    if (packet.to.IsEveryone() || *packet.to.station == m_gateway)
    {
        m_fates.Deliver(packet.frame.slot, m_gateway);
    }
    const bool hasOtherTerminals = m_stations.size() > 2;
    if ((packet.to.IsEveryone() && hasOtherTerminals) || (packet.to.station && *packet.to.station != m_gateway))
    {
        Send(m_gateway, packet);
    }
}

void SatelliteSegment::ArriveAt(StationId receiver, StationId sender, const Packet& packet)
{
    if (IsTerminal(receiver) && Link(receiver).down)
    {
        LoseOne(sender, packet, receiver, Loss::Outage);
    }
    else if (IsCorrupted(sender, receiver, packet))
    {
        LoseOne(sender, packet, receiver, Loss::OnAir);
    }
    else
    {
        m_fates.Deliver(packet.frame.slot, receiver);
    }
}

bool SatelliteSegment::IsCorrupted(StationId sender, StationId receiver, const Packet& packet)
{
    auto& station = m_stations[sender];
    const auto terminal = IsTerminal(sender) ? sender : receiver;
    const bool byChance = station.errors->GetValue() < Link(terminal).packetErrorRate.value_or(m_packetErrorRate);
    const auto& profile = station.sender->Filler().Profiles()[packet.profile];
    const bool bySignal =
        station.heard[receiver].IsLost(packet, profile.ErrorRate(SignalAt(sender, receiver)), *station.codewords);
    return byChance || bySignal;
}

bool SatelliteSegment::IsCutOff(StationId sender, const Packet& packet) const
{
    if (IsTerminal(sender))
    {
        return Link(sender).down;
    }
    return packet.to.station ? Link(*packet.to.station).down
                             : std::ranges::all_of(m_terminals, [this](StationId terminal) { return Link(terminal).down; });
}

void SatelliteSegment::LoseOne(StationId sender, const Packet& packet, StationId receiver, Loss reason)
{
    ++m_stations[sender].lost[reason];
    m_fates.Lose(packet.frame.slot, receiver, reason);
}

void SatelliteSegment::Lose(StationId sender, const Packet& packet, Loss reason)
{
    if (packet.to.station)
    {
        LoseOne(sender, packet, *packet.to.station, reason);
        return;
    }
    ++m_stations[sender].lost[reason];
    m_fates.LoseAll(packet.frame.slot, reason);
}

ns3::Time SatelliteSegment::DelayBetween(StationId sender, StationId receiver) const
{
    const auto common = m_delay.At(ns3::Simulator::Now());
    const auto own = [&](StationId terminal)
    {
        const auto& delay = Link(terminal).delay;
        return delay ? ns3::Seconds(*delay) : common;
    };
    if (IsTerminal(sender) && IsTerminal(receiver))
    {
        return (own(sender) + own(receiver)) / std::int64_t{2};
    }
    return own(IsTerminal(sender) ? sender : receiver);
}

std::size_t SatelliteSegment::ForwardCoding(const Packet& packet) const
{
    if (packet.to.station)
    {
        return Link(*packet.to.station).forward.Used();
    }
    // The most robust that anybody needs who can be reached at all.
    std::size_t coding = m_forwardProfiles.profiles.size() - 1;
    bool anybody = false;
    for (const auto terminal : m_terminals)
    {
        if (!Link(terminal).down)
        {
            coding = std::min(coding, Link(terminal).forward.Used());
            anybody = true;
        }
    }
    return anybody ? coding : Link(m_terminals.front()).forward.Used();
}

} // namespace netboxit
