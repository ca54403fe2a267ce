// SPDX-License-Identifier: GPL-2.0-or-later
#include "terminal.h"

#include <algorithm>

namespace netboxit
{

bool Terminal::Enqueue(const Packet& packet)
{
    if (m_queue.size() >= m_size)
    {
        return false;
    }
    m_queue.insert(std::ranges::upper_bound(m_queue, packet.trafficClass, {}, &Packet::trafficClass), packet);
    return true;
}

void Terminal::PutBack(const Packet& packet)
{
    m_queue.insert(std::ranges::lower_bound(m_queue, packet.trafficClass, {}, &Packet::trafficClass), packet);
}

const Packet* Terminal::FirstTo(std::optional<StationId> to) const
{
    const auto found = std::ranges::find(m_queue, to, &Packet::to);
    return found == m_queue.end() ? nullptr : &*found;
}

std::optional<Packet> Terminal::TakeTo(std::optional<StationId> to)
{
    const auto found = std::ranges::find(m_queue, to, &Packet::to);
    if (found == m_queue.end())
    {
        return std::nullopt;
    }
    const auto packet = *found;
    m_queue.erase(found);
    return packet;
}

Json Terminal::Read() const
{
    Json lost = Json::object();
    for (std::size_t reason = 1; reason < counters.lost.size(); ++reason)
    {
        if (counters.lost[reason] > 0)
        {
            lost[std::string(LOSS_NAMES[reason])] = counters.lost[reason];
        }
    }
    return {{"queued", m_queue.size()},
            {"transmissions", counters.packetsSent},
            {"slots_used", counters.blocksSent},
            {"retransmissions", counters.blocksRepeated},
            {"blocks_lost", counters.blocksLost},
            {"accesses", counters.accesses},
            {"access_collisions", counters.accessCollisions},
            {"calls", counters.calls},
            {"calls_preempted", counters.callsPreempted},
            {"setup_time", counters.setupTime},
            {"lost", lost}};
}

void Terminal::Reset()
{
    counters = {};
}

} // namespace netboxit
