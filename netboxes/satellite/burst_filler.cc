// SPDX-License-Identifier: GPL-2.0-or-later
#include "burst_filler.h"

#include "ns3/simulator.h"

namespace netboxit
{

BurstFiller::BurstFiller(const Encapsulation& encapsulation,
                         std::vector<Profile> profiles,
                         TransmitQueue queue,
                         Coding coding,
                         Departure departure,
                         Dropped dropped)
    : m_encapsulation(encapsulation), m_profiles(std::move(profiles)), m_queue(std::move(queue)), m_coding(std::move(coding)),
      m_departure(std::move(departure)), m_dropped(std::move(dropped)), m_packer(encapsulation)
{
}

void BurstFiller::DropOld()
{
    const auto now = ns3::Simulator::Now();
    if (m_packer.IsBusy() && m_packer.Current()->entered < now - LONGEST_LIFE)
    {
        m_dropped(*m_packer.Abandon(), Loss::QueueExpired);
    }
    if (m_queue.Packets() == 0)
    {
        return;
    }
    while (const auto packet = m_queue.PopOlder(now - LONGEST_WAIT))
    {
        m_dropped(*packet, Loss::QueueExpired);
    }
}

void BurstFiller::DropAll(Loss reason)
{
    if (const auto packet = m_packer.Abandon())
    {
        m_dropped(*packet, reason);
    }
    while (const auto packet = m_queue.Pop())
    {
        m_dropped(*packet, reason);
    }
}

std::size_t BurstFiller::NextProfile() const
{
    return m_coding(m_packer.IsBusy() ? *m_packer.Current() : *m_queue.Front());
}

std::uint32_t BurstFiller::Fill(ns3::Time sent)
{
    const auto profile = NextProfile();
    const auto payload = m_profiles[profile].payload;
    ++m_codeword;
    std::uint32_t used = 0;
    while (used < payload)
    {
        if (!m_packer.IsBusy())
        {
            // A packet that must be sent more robustly than this codeword is waits for one of its own.
            const auto* next = m_queue.Front();
            if (next == nullptr || m_coding(*next) < profile)
            {
                break;
            }
            m_packer.Begin(*m_queue.Pop());
            m_begunIn = m_codeword;
        }
        const auto taken = m_packer.Put(payload - used);
        if (taken == 0)
        {
            // Nothing of it is in this codeword yet.
            m_begunIn += m_begunIn == m_codeword ? 1 : 0;
            break;
        }
        used += taken;
        if (auto ended = m_packer.Ended())
        {
            ended->firstCodeword = m_begunIn;
            ended->lastCodeword = m_codeword;
            ended->profile = profile;
            m_departure(*ended, sent);
        }
    }
    return used;
}

} // namespace netboxit
