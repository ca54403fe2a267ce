// SPDX-License-Identifier: GPL-2.0-or-later
#include "burst_filler.h"

#include "ns3/simulator.h"

namespace netboxit
{

namespace
{

/// A netbox remembers a frame for 30 s (segment.h): 10 s are left for its own bursts and two hops of up to 5 s, mostly.
const ns3::Time LONGEST_WAIT = ns3::Seconds(20);

} // namespace

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
    if (m_queue.Packets() == 0)
    {
        return;
    }
    const auto since = ns3::Simulator::Now() - LONGEST_WAIT;
    while (const auto packet = m_queue.PopOlder(since))
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
