// SPDX-License-Identifier: GPL-2.0-or-later
#include "burst_filler.h"

#include "../queueing/chance.h"

#include "ns3/simulator.h"

namespace netboxit
{

BurstFiller::BurstFiller(const SegmentSetup& setup,
                         std::int64_t stream,
                         const Encapsulation& encapsulation,
                         std::vector<Profile> profiles,
                         Coding coding,
                         Departure departure,
                         DropCallback dropped)
    : m_frames(setup.frames), m_encapsulation(encapsulation), m_profiles(std::move(profiles)), m_coding(std::move(coding)),
      m_departure(std::move(departure)), m_dropped(std::move(dropped)), m_packer(encapsulation), m_notBegun(setup.classes.size()),
      m_queue(setup.parameters.at("queue"),
              queueing::ChanceOf(stream),
              [this](const Packet& packet, Loss reason) { Lose(packet, reason); },
              [this](const Packet& packet) { return m_frames.MarkCongestion(packet.frame.slot, packet.to.station); })
{
}

bool BurstFiller::Push(const Packet& packet, double rate)
{
    DropOld();
    const auto& frame = packet.frame;
    auto& amount = m_notBegun[frame.trafficClass];
    ++amount.packets;
    amount.bytes += frame.length;
    const auto before = m_queue.Packets();
    m_queue.Enqueue(packet,
                    {frame.length, frame.trafficClass, m_frames.Read(frame.slot)},
                    ns3::Simulator::Now().GetNanoSeconds(),
                    rate);
    return m_queue.Packets() > before;
}

void BurstFiller::SetQueue(const Json& said, double rate)
{
    m_queue.Set(said, ns3::Simulator::Now().GetNanoSeconds(), rate);
}

void BurstFiller::DropOld()
{
    const auto now = ns3::Simulator::Now();
    if (m_packer.IsBusy() && m_packer.Current()->entered < now - LONGEST_LIFE)
    {
        m_dropped(*m_packer.Abandon(), Loss::QueueExpired);
    }
    m_queue.Expire(now.GetNanoSeconds(), LONGEST_WAIT.GetNanoSeconds());
}

void BurstFiller::DropAll(Loss reason)
{
    if (const auto packet = m_packer.Abandon())
    {
        m_dropped(*packet, reason);
    }
    if (const auto packet = std::exchange(m_next, std::nullopt))
    {
        Lose(*packet, reason);
    }
    m_queue.Clear(reason, ns3::Simulator::Now().GetNanoSeconds());
}

bool BurstFiller::FindNext()
{
    if (m_packer.IsBusy() || m_next)
    {
        return true;
    }
    const auto now = ns3::Simulator::Now();
    while (!m_next)
    {
        m_next = m_queue.Dequeue(now.GetNanoSeconds());
        if (!m_next)
        {
            return false;
        }
        // One that a gateway relays has waited at its terminal, too.
        if (m_next->entered < now - LONGEST_WAIT)
        {
            Lose(*std::exchange(m_next, std::nullopt), Loss::QueueExpired);
        }
    }
    return true;
}

std::size_t BurstFiller::NextProfile() const
{
    return m_coding(m_packer.IsBusy() ? *m_packer.Current() : *m_next);
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
            if (!FindNext() || m_coding(*m_next) < profile)
            {
                break;
            }
            Leave(*m_next);
            m_packer.Begin(*std::exchange(m_next, std::nullopt));
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

Json BurstFiller::ReadQueue() const
{
    return m_queue.Read(ns3::Simulator::Now().GetNanoSeconds());
}

void BurstFiller::ResetStatistics()
{
    m_queue.ResetStatistics(ns3::Simulator::Now().GetNanoSeconds());
}

void BurstFiller::Leave(const Packet& packet)
{
    auto& amount = m_notBegun[packet.frame.trafficClass];
    --amount.packets;
    amount.bytes -= packet.frame.length;
}

void BurstFiller::Lose(const Packet& packet, Loss reason)
{
    Leave(packet);
    m_dropped(packet, reason);
}

} // namespace netboxit
