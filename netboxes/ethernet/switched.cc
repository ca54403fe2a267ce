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
    const auto& queue = setup.parameters.at("queue");
    for (StationId id = 0; id < Count(); ++id)
    {
        auto& port = m_ports[id];
        port.up = std::make_unique<Link>(
            queue,
            QUEUE_STREAMS + 2 * id,
            setup.frames,
            [this, id](const Outgoing& outgoing) { AtSwitch(id, outgoing); },
            [this, id](const Outgoing& outgoing, Loss reason) { LoseUp(id, outgoing.frame.slot, reason); });
        port.down = std::make_unique<Link>(
            queue,
            QUEUE_STREAMS + 2 * id + 1,
            setup.frames,
            [this, id](const Outgoing& outgoing) { AtStation(id, outgoing); },
            [this, id](const Outgoing& outgoing, Loss reason) { LoseDown(id, outgoing.frame.slot, reason); });
        Switched::ApplyRate(id);
        Switched::ApplyDelay(id);
    }
    LookAtCuts();
}

void Switched::Transmit(StationId from, Destination to, const Frame& frame)
{
    if (At(from).cut)
    {
        LoseUp(from, frame.slot, Loss::Outage);
        return;
    }
    m_ports[from].up->Send({frame, to});
}

void Switched::AtSwitch(StationId from, const Outgoing& outgoing)
{
    const auto& [frame, to] = outgoing;
    if (!Survives(outgoing.BytesOnWire()))
    {
        LoseUp(from, frame.slot, Loss::OnAir);
    }
    else if (to.station)
    {
        Forward(*to.station, frame);
    }
    else
    {
        for (StationId id = 0; id < Count(); ++id)
        {
            if (id != from)
            {
                Forward(id, frame);
            }
        }
    }
}

void Switched::Forward(StationId to, const Frame& frame)
{
    if (At(to).cut)
    {
        LoseDown(to, frame.slot, Loss::Outage);
        return;
    }
    m_ports[to].down->Send({frame, {to}});
}

void Switched::AtStation(StationId station, const Outgoing& outgoing)
{
    if (Survives(outgoing.BytesOnWire()))
    {
        m_fates.Deliver(outgoing.frame.slot, station);
    }
    else
    {
        LoseDown(station, outgoing.frame.slot, Loss::OnAir);
    }
}

void Switched::LoseUp(StationId from, SlotId slot, Loss reason)
{
    ++At(from).lost[reason];
    m_fates.LoseAll(slot, reason);
}

void Switched::LoseDown(StationId to, SlotId slot, Loss reason)
{
    ++m_ports[to].lost[reason];
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
    m_ports[station].up->Clear(Loss::Outage);
    m_ports[station].down->Clear(Loss::Outage);
}

void Switched::ApplyQueue(const Json& queue)
{
    for (const auto& port : m_ports)
    {
        port.up->SetQueue(queue);
        port.down->SetQueue(queue);
    }
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
    counters["port"]["lost"] = port.lost.ReadOccurred();
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
