// SPDX-License-Identifier: GPL-2.0-or-later
#include "carrier.h"

#include "ns3/simulator.h"

namespace netboxit
{

Carrier::Carrier(std::unique_ptr<Capacity> capacity,
                 const Encapsulation& encapsulation,
                 std::uint32_t slotPayload,
                 TransmitQueue queue,
                 double queueTime,
                 Departure departure)
    : m_capacity(std::move(capacity)), m_encapsulation(encapsulation), m_slotPayload(slotPayload),
      m_queue(std::move(queue)), m_queueTime(queueTime), m_departure(std::move(departure)),
      m_packer(encapsulation)
{
}

bool Carrier::Enqueue(const Packet& packet)
{
    if (!m_queue.Push(packet, m_capacity->Rate() * m_queueTime / 8.0))
    {
        return false;
    }
    if (!m_scheduled)
    {
        Schedule(ns3::Simulator::Now());
    }
    return true;
}

void Carrier::SetRate(double rate)
{
    m_capacity->SetRate(rate, ns3::Simulator::Now());
}

double Carrier::Utilisation() const
{
    const double elapsed = ns3::Simulator::Now().GetSeconds();
    return elapsed > 0.0 ? m_busy / elapsed : 0.0;
}

void Carrier::Schedule(ns3::Time notBefore)
{
    const auto slot = m_capacity->Next(notBefore);
    m_scheduled = true;
    ns3::Simulator::Schedule(slot.start - ns3::Simulator::Now(), &Carrier::Transmit, this, slot);
}

void Carrier::Transmit(Slot slot)
{
    const double share = static_cast<double>(Fill(slot.end)) / m_slotPayload;
    m_busy += share * (slot.end - slot.start).GetSeconds();
    m_scheduled = false;
    if (m_packer.IsBusy() || m_queue.Packets() > 0)
    {
        Schedule(slot.end);
    }
}

std::uint32_t Carrier::Fill(ns3::Time sent)
{
    std::uint32_t used = 0;
    while (used < m_slotPayload)
    {
        if (!m_packer.IsBusy())
        {
            const auto next = m_queue.Pop();
            if (!next)
            {
                break;
            }
            m_packer.Begin(*next);
        }
        const auto taken = m_packer.Put(m_slotPayload - used);
        if (taken == 0)
        {
            break;
        }
        used += taken;
        if (const auto ended = m_packer.Ended())
        {
            m_departure(*ended, sent);
        }
    }
    return used;
}

} // namespace netboxit
