// SPDX-License-Identifier: GPL-2.0-or-later
// How a station learns that frames are lost, and why.
#include "station.h"

#include "ns3/wifi-mac-header.h"

namespace netboxit
{

namespace
{

/// The final destination of a data frame: address 3 towards the access point and in a mesh, address 1 else
/// (IEEE 802.11-2020, 9.3.2.1).
ns3::Mac48Address FinalDestination(const ns3::WifiMacHeader& header)
{
    return header.IsToDs() ? header.GetAddr3() : header.GetAddr1();
}

/// Why the MAC drops a frame for a receiver that it can reach, or cannot.
Loss LossBy(ns3::WifiMacDropReason reason, bool reachable)
{
    switch (reason)
    {
    case ns3::WIFI_MAC_DROP_FAILED_ENQUEUE:
        return Loss::QueueFull;
    case ns3::WIFI_MAC_DROP_REACHED_RETRY_LIMIT:
        return reachable ? Loss::RetryLimit : Loss::Outage;
    default:
        return reachable ? Loss::QueueExpired : Loss::Outage;
    }
}

} // namespace

void Station::GroupFrameSettles(SlotId slot)
{
    for (const auto* station : m_around.stations.All())
    {
        if (!HasWayTo(station))
        {
            m_around.fates.Lose(slot, station->Id(), Loss::Outage);
        }
    }
    m_around.fates.LoseAll(slot, Loss::OnAir);
}

/// The MAC refuses a frame before queueing it when the receiver, or this station itself, is not associated.
void Station::NotEnqueued(ns3::Ptr<const ns3::Packet> msdu)
{
    if (const auto slot = SlotOf(msdu))
    {
        Lose(*slot, nullptr, Loss::Outage);
    }
}

/// The access point does not know at once that a station has lost it: such a station acknowledges data frames
/// and discards them.
void Station::Refused(ns3::Ptr<const ns3::Packet> msdu)
{
    const bool lostIt = m_around.plan.mode == Mode::Infrastructure && !m_around.links.IsUp(m_id);
    if (const auto slot = lostIt ? SlotOf(msdu) : std::nullopt)
    {
        Lose(*slot, this, Loss::Outage);
    }
}

void Station::QueueOverflows(ns3::Ptr<const ns3::WifiMpdu> mpdu)
{
    Dropped(ns3::WIFI_MAC_DROP_FAILED_ENQUEUE, mpdu);
}

void Station::Dropped(ns3::WifiMacDropReason reason, ns3::Ptr<const ns3::WifiMpdu> mpdu)
{
    const auto& header = mpdu->GetHeader();
    const auto slot = header.IsData() && header.HasData() ? SlotOf(mpdu->GetPacket()) : std::nullopt;
    if (!slot)
    {
        return;
    }
    const auto* receiver = m_around.stations.Find(FinalDestination(header));
    const auto loss = LossBy(reason, HasWayTo(receiver));
    const auto category = CategoryOf(header);
    QueueOf(category.value_or(ns3::AC_BE)).CountDropped(loss);
    if (IsMesh() && !receiver)
    {
        // One of several copies of a broadcast: who still misses it when the flood is over has lost it.
        m_counters.CountLoss(loss == Loss::QueueFull ? loss : Loss::OnAir, category);
        return;
    }
    Lose(*slot, receiver, loss, category);
}

void Station::PathFailed(const ns3::Ptr<const ns3::Packet>& token, MeshRouting::Failure failure)
{
    if (const auto slot = ReadToken(token))
    {
        Lose(*slot, nullptr, failure == MeshRouting::Failure::NoRoom ? Loss::QueueFull : Loss::Outage);
    }
}

bool Station::HasWayTo(const Station* receiver) const
{
    if (!receiver || receiver == this)
    {
        return m_around.links.IsUp(m_id);
    }
    return m_around.links.IsBetween(m_id, receiver->Id());
}

void Station::Lose(SlotId slot, const Station* receiver, Loss reason, std::optional<ns3::AcIndex> category)
{
    m_counters.CountLoss(reason, category);
    if (receiver)
    {
        m_around.fates.Lose(slot, receiver->Id(), reason);
    }
    else
    {
        m_around.fates.LoseAll(slot, reason);
    }
}

} // namespace netboxit
