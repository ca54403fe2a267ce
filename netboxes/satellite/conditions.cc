// SPDX-License-Identifier: GPL-2.0-or-later
#include "satellite.h"

#include "ns3/simulator.h"

#include <cmath>

namespace netboxit
{

void SatelliteSegment::Begin()
{
    const auto now = ns3::Simulator::Now();
    m_began = true;
    m_delay.Begin(now);
    m_sky.Begin(now);
    for (auto& station : m_stations)
    {
        station.sky->Begin(now);
    }
    m_gap = false;
    m_nextGap.Cancel();
    m_nextHandover.Cancel();
    ScheduleGap();
    if (const auto period = m_delay.HandoverPeriod())
    {
        m_nextHandover = ns3::Simulator::Schedule(ns3::Seconds(*period), &SatelliteSegment::Handover, this, std::uint64_t{1});
    }
    Sample();
}

std::vector<Unlinked> SatelliteSegment::WithoutLink() const
{
    std::vector<Unlinked> found;
    for (const auto terminal : m_terminals)
    {
        if (Link(terminal).down)
        {
            found.push_back({terminal, {{"reason", CauseOfLoss(terminal)}}});
        }
    }
    return found;
}

void SatelliteSegment::Sample()
{
    m_sampling.Cancel();
    const auto now = ns3::Simulator::Now();
    auto next = m_sky.Advance(now);
    for (auto& station : m_stations)
    {
        const auto change = station.sky->Advance(now);
        next = next && change ? std::min(*next, *change) : (next ? next : change);
    }
    MeasureAll();
    UpdateLinks();
    if (next)
    {
        m_sampling = ns3::Simulator::Schedule(std::max(*next - now, ns3::NanoSeconds(1)), &SatelliteSegment::Sample, this);
    }
}

void SatelliteSegment::MeasureAll()
{
    for (const auto terminal : m_terminals)
    {
        Link(terminal).forward.Measure(SignalAt(m_gateway, terminal));
        Link(terminal).back.Measure(SignalAt(terminal, m_gateway));
        Adapt(terminal, &TerminalLink::forward);
        Adapt(terminal, &TerminalLink::back);
    }
}

void SatelliteSegment::Adapt(StationId terminal, AdaptiveCoding TerminalLink::* direction)
{
    auto& coding = Link(terminal).*direction;
    const auto wanted = coding.Wanted();
    if (wanted == coding.Announced())
    {
        return;
    }
    coding.Announce(wanted);
    // A terminal tells the hub what it receives, and the hub codes for it; or the hub tells the terminal how to code: one way each.
    ns3::Simulator::Schedule(ns3::Seconds(m_reaction) + DelayBetween(terminal, m_gateway),
                             &SatelliteSegment::UseProfile,
                             this,
                             terminal,
                             direction,
                             wanted);
}

void SatelliteSegment::UseProfile(StationId terminal, AdaptiveCoding TerminalLink::* direction, std::size_t profile)
{
    auto& coding = Link(terminal).*direction;
    const auto from = coding.UsedProfile().name;
    coding.Use(profile);
    if (from != coding.UsedProfile().name)
    {
        m_announcements.Announce("profile",
                                 terminal,
                                 {{"direction", direction == &TerminalLink::forward ? "forward" : "return"},
                                  {"from", from},
                                  {"to", coding.UsedProfile().name}});
    }
}

double SatelliteSegment::SignalAt(StationId sender, StationId receiver) const
{
    // Rain on the way up takes from the carrier what it takes at the satellite, and with it below. Rain on the way down takes from the
    // carrier only; that it takes as much from the whole ratio is exact when the receiver's noise prevails.
    const double attenuation = m_sky.fade + m_sky.Profiled() + m_stations[sender].sky->Up() + m_stations[receiver].sky->Down();
    const double clear = IsTerminal(sender) ? Link(sender).returnClearSky : Link(receiver).forwardClearSky;
    return clear - attenuation;
}

double SatelliteSegment::ReturnErrorRate(StationId terminal, const Profile& profile) const
{
    return profile.ErrorRate(SignalAt(terminal, m_gateway));
}

const char* SatelliteSegment::CauseOfLoss(StationId terminal) const
{
    if (m_outage || m_stations[m_gateway].outage || m_stations[terminal].outage)
    {
        return "outage";
    }
    if (m_gap)
    {
        return "no satellite";
    }
    return Link(terminal).forward.IsLost() || Link(terminal).back.IsLost() ? "fade" : nullptr;
}

void SatelliteSegment::UpdateLinks()
{
    for (const auto terminal : m_terminals)
    {
        auto& link = Link(terminal);
        const char* cause = CauseOfLoss(terminal);
        if ((cause != nullptr) == link.down)
        {
            continue;
        }
        link.down = cause != nullptr;
        link.downs += link.down ? 1 : 0;
        if (link.down && !m_gap)
        {
            // Without slots it would keep until the link is found again what it would otherwise have sent in vain. A handover is short, and
            // the terminal knows of it: it keeps what waits.
            m_stations[terminal].sender->DropAll(Loss::Outage);
        }
        if (!m_began)
        {
            continue;
        }
        if (link.down)
        {
            m_announcements.Announce("link_down", terminal, {{"reason", cause}});
        }
        else
        {
            m_announcements.Announce("link_up", terminal, Json::object());
        }
    }
}

void SatelliteSegment::ScheduleGap()
{
    const auto now = ns3::Simulator::Now();
    const auto gap = m_delay.NextGap((now - m_delay.Began()).GetSeconds());
    if (gap)
    {
        const auto start = m_delay.Began() + ns3::Seconds(gap->start);
        m_nextGap = ns3::Simulator::Schedule(std::max(start - now, ns3::Time{}), &SatelliteSegment::SetGap, this, true);
    }
}

void SatelliteSegment::SetGap(bool gap)
{
    const auto now = ns3::Simulator::Now();
    if (gap)
    {
        const auto current = m_delay.NextGap((now - m_delay.Began()).GetSeconds());
        const auto end = m_delay.Began() + ns3::Seconds(current->start + current->duration);
        m_nextGap = ns3::Simulator::Schedule(end - now, &SatelliteSegment::SetGap, this, false);
    }
    else
    {
        ScheduleGap();
    }
    m_gap = gap;
    UpdateLinks();
}

void SatelliteSegment::Handover(std::uint64_t number)
{
    m_announcements.Announce(
        "handover", std::nullopt, {{"from", "satellite " + std::to_string(number)}, {"to", "satellite " + std::to_string(number + 1)}});
    const auto next = m_delay.Began() + ns3::Seconds(static_cast<double>(number + 1) * *m_delay.HandoverPeriod());
    m_nextHandover = ns3::Simulator::Schedule(next - ns3::Simulator::Now(), &SatelliteSegment::Handover, this, number + 1);
}

} // namespace netboxit
