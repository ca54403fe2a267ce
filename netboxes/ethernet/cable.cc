// SPDX-License-Identifier: GPL-2.0-or-later
#include "cable.h"

namespace netboxit
{

Cable::Cable(const SegmentSetup& setup) : Medium(setup)
{
    const std::size_t queue = setup.parameters.at("queue");
    for (StationId id = 0; id < m_outgoing.size(); ++id)
    {
        m_outgoing[id] = std::make_unique<Link>(
            queue, [this, id](SlotId slot, std::uint32_t bytes) { Arrived(id, slot, bytes); });
        Cable::ApplyRate(id);
        Cable::ApplyDelay(id);
    }
    LookAtCuts();
}

void Cable::Transmit(StationId from, Destination, const Frame& frame)
{
    if (At(from).cut)
    {
        Lose(from, frame.slot, Loss::Outage);
    }
    else if (!m_outgoing[from]->Send(frame.slot, BytesOnWire(frame)))
    {
        Lose(from, frame.slot, Loss::QueueFull);
    }
}

void Cable::Arrived(StationId from, SlotId slot, std::uint32_t bytes)
{
    if (Survives(bytes))
    {
        m_fates.Deliver(slot, 1 - from);
    }
    else
    {
        Lose(from, slot, Loss::OnAir);
    }
}

void Cable::Lose(StationId from, SlotId slot, Loss reason)
{
    ++At(from).lost[static_cast<std::size_t>(reason)];
    m_fates.LoseAll(slot, reason);
}

void Cable::ApplyRate(StationId station)
{
    m_outgoing[station]->SetRate(At(station).rate);
}

void Cable::ApplyDelay(StationId station)
{
    m_outgoing[station]->SetDelay(At(station).delay);
}

void Cable::ApplyCut(StationId station)
{
    m_outgoing[station]->Clear([this, station](SlotId slot) { Lose(station, slot, Loss::Outage); });
}

bool Cable::IsCutBy(bool all, std::span<const Wire> wires, StationId) const
{
    return all || wires[0].off || wires[1].off;
}

Json Cable::ReadStation(StationId station) const
{
    return m_outgoing[station]->Read();
}

void Cable::ResetStation(StationId station)
{
    m_outgoing[station]->Reset();
}

} // namespace netboxit
