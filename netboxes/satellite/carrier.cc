// SPDX-License-Identifier: GPL-2.0-or-later
#include "carrier.h"

#include "ns3/simulator.h"

namespace netboxit
{

Carrier::Carrier(std::unique_ptr<BurstFiller> filler, std::size_t reference, double rate)
    : m_filler(std::move(filler)), m_reference(reference), m_capacity(m_filler->Profiles().at(reference).bits, rate)
{
}

void Carrier::Enqueue(const Packet& packet)
{
    if (m_filler->Push(packet, m_capacity.Rate()) && !m_scheduled)
    {
        Schedule(ns3::Simulator::Now());
    }
}

void Carrier::SetQueue(const Json& said)
{
    m_filler->SetQueue(said, m_capacity.Rate());
}

void Carrier::SetRate(double rate)
{
    m_capacity.SetRate(rate, ns3::Simulator::Now());
}

double Carrier::Utilisation() const
{
    const double elapsed = (ns3::Simulator::Now() - m_since).GetSeconds();
    return elapsed > 0.0 ? m_busy / elapsed : 0.0;
}

void Carrier::Read(Json& statistics) const
{
    statistics["rate"] = m_capacity.Rate();
    statistics["slots_used"] = m_codewords;
    statistics["bytes_carried"] = m_carried;
}

void Carrier::Reset()
{
    m_busy = 0.0;
    m_codewords = 0;
    m_carried = 0;
    m_since = ns3::Simulator::Now();
    m_filler->ResetStatistics();
}

void Carrier::Schedule(ns3::Time notBefore)
{
    const auto slot = m_capacity.Next(notBefore);
    m_scheduled = true;
    ns3::Simulator::Schedule(slot.start - ns3::Simulator::Now(), &Carrier::Transmit, this, slot);
}

void Carrier::Transmit(Slot slot)
{
    m_scheduled = false;
    m_filler->DropOld();
    if (!m_filler->FindNext())
    {
        return;
    }
    const auto& profiles = m_filler->Profiles();
    const auto& profile = profiles[m_filler->NextProfile()];
    if (profile.symbols != profiles[m_reference].symbols)
    {
        slot.end = slot.start + (slot.end - slot.start) * (static_cast<double>(profile.symbols) / profiles[m_reference].symbols);
        m_capacity.Realign(slot.end);
    }
    const auto used = m_filler->Fill(slot.end);
    ++m_codewords;
    m_carried += used;
    m_busy += static_cast<double>(used) / profile.payload * (slot.end - slot.start).GetSeconds();
    if (!m_filler->IsEmpty())
    {
        Schedule(slot.end);
    }
}

} // namespace netboxit
