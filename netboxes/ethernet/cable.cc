// SPDX-License-Identifier: GPL-2.0-or-later
#include "cable.h"

namespace netboxit
{

Cable::Cable(const SegmentSetup& setup) : Medium(setup)
{
    for (StationId id = 0; id < m_outgoing.size(); ++id)
    {
        m_outgoing[id] = std::make_unique<Link>(
            setup.parameters.at("queue"),
            QUEUE_STREAMS + id,
            setup.frames,
            [this, id](const Outgoing& outgoing) { Arrived(id, outgoing); },
            [this, id](const Outgoing& outgoing, Loss reason) { Lose(id, outgoing.frame.slot, reason); });
        Cable::ApplyRate(id);
        Cable::ApplyDelay(id);
    }
    LookAtCuts();
}

void Cable::Transmit(StationId from, Destination to, const Frame& frame)
{
    if (At(from).cut)
    {
        Lose(from, frame.slot, Loss::Outage);
        return;
    }
    m_outgoing[from]->Send({frame, to});
}

void Cable::Arrived(StationId from, const Outgoing& outgoing)
{
    if (Survives(outgoing.BytesOnWire()))
    {
        m_fates.Deliver(outgoing.frame.slot, 1 - from);
    }
    else
    {
        Lose(from, outgoing.frame.slot, Loss::OnAir);
    }
}

void Cable::Lose(StationId from, SlotId slot, Loss reason)
{
    ++At(from).lost[reason];
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
    m_outgoing[station]->Clear(Loss::Outage);
}

void Cable::ApplyQueue(const Json& queue)
{
    for (const auto& link : m_outgoing)
    {
        link->SetQueue(queue);
    }
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
