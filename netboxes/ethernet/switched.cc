// SPDX-License-Identifier: GPL-2.0-or-later
#include "switched.h"

#include <cmath>

namespace netboxit
{

Switched::Switched(const SegmentSetup& setup) : Medium(setup), m_switching(0), m_ports(setup.stations.size())
{
    if (const auto& switching = setup.parameters.at("switching_delay"); !switching.is_null())
    {
        m_switching = std::llround(switching.get<double>() * 1e9);
    }
    const std::size_t queue = setup.parameters.at("queue");
    for (StationId id = 0; id < Count(); ++id)
    {
        auto& port = m_ports[id];
        port.up = std::make_unique<Link>(
            queue, [this, id](SlotId slot, std::uint32_t bytes) { AtSwitch(id, slot, bytes); });
        port.down = std::make_unique<Link>(
            queue, [this, id](SlotId slot, std::uint32_t bytes) { AtStation(id, slot, bytes); });
        Switched::ApplyRate(id);
        Switched::ApplyDelay(id);
    }
    LookAtCuts();
}

void Switched::Transmit(StationId from, Destination to, const Frame& frame)
{
    auto& port = m_ports[from];
    if (At(from).cut)
    {
        LoseUp(from, frame.slot, Loss::Outage);
    }
    else if (port.up->Send(frame.slot, BytesOnWire(frame)))
    {
        port.bound.push_back(to);
    }
    else
    {
        LoseUp(from, frame.slot, Loss::QueueFull);
    }
}

void Switched::AtSwitch(StationId from, SlotId slot, std::uint32_t bytes)
{
    const auto to = m_ports[from].bound.front();
    m_ports[from].bound.pop_front();
    if (!Survives(bytes))
    {
        LoseUp(from, slot, Loss::OnAir);
    }
    else if (to.station)
    {
        Forward(*to.station, slot, bytes);
    }
    else
    {
        for (StationId id = 0; id < Count(); ++id)
        {
            if (id != from)
            {
                Forward(id, slot, bytes);
            }
        }
    }
}

void Switched::Forward(StationId to, SlotId slot, std::uint32_t bytes)
{
    if (At(to).cut)
    {
        LoseDown(to, slot, Loss::Outage);
    }
    else if (!m_ports[to].down->Send(slot, bytes))
    {
        LoseDown(to, slot, Loss::QueueFull);
    }
}

void Switched::AtStation(StationId station, SlotId slot, std::uint32_t bytes)
{
    if (Survives(bytes))
    {
        m_fates.Deliver(slot, station);
    }
    else
    {
        LoseDown(station, slot, Loss::OnAir);
    }
}

void Switched::LoseUp(StationId from, SlotId slot, Loss reason)
{
    ++At(from).lost[static_cast<std::size_t>(reason)];
    m_fates.LoseAll(slot, reason);
}

void Switched::LoseDown(StationId to, SlotId slot, Loss reason)
{
    ++m_ports[to].lost[static_cast<std::size_t>(reason)];
    m_fates.Lose(slot, to, reason);
}

void Switched::ApplyRate(StationId station)
{
    m_ports[station].up->SetRate(At(station).rate);
    m_ports[station].down->SetRate(At(station).rate);
}

void Switched::ApplyDelay(StationId station)
{
    // A frame can begin at another port this much after its last bit came.
    m_ports[station].up->SetDelay(At(station).delay + m_switching);
    m_ports[station].down->SetDelay(At(station).delay);
}

void Switched::ApplyCut(StationId station)
{
    auto& port = m_ports[station];
    port.up->Clear([this, station](SlotId slot) { LoseUp(station, slot, Loss::Outage); });
    port.bound.clear();
    port.down->Clear([this, station](SlotId slot) { LoseDown(station, slot, Loss::Outage); });
}

bool Switched::HasOwnWires() const
{
    return true;
}

Json Switched::ReadStation(StationId station) const
{
    const auto& port = m_ports[station];
    auto counters = port.up->Read();
    counters["port"] = port.down->Read();
    counters["port"]["lost"] = ByCause(port.lost);
    return counters;
}

void Switched::ResetStation(StationId station)
{
    auto& port = m_ports[station];
    port.up->Reset();
    port.down->Reset();
    port.lost = {};
}

} // namespace netboxit
