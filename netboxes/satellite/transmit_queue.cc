// SPDX-License-Identifier: GPL-2.0-or-later
#include "transmit_queue.h"

#include <algorithm>
#include <numeric>

namespace netboxit
{

TransmitQueue::TransmitQueue(std::size_t classes, bool priority)
    : m_lines(priority ? classes : 1), m_bytes(classes), m_counts(classes)
{
}

bool TransmitQueue::Push(const Packet& packet, double limit)
{
    auto& line = m_lines[std::min<std::size_t>(packet.frame.trafficClass, m_lines.size() - 1)];
    if (!line.packets.empty() && static_cast<double>(line.bytes + packet.frame.length) > limit)
    {
        return false;
    }
    line.packets.push_back(packet);
    line.bytes += packet.frame.length;
    ++m_packets;
    m_bytes[packet.frame.trafficClass] += packet.frame.length;
    ++m_counts[packet.frame.trafficClass];
    return true;
}

const Packet* TransmitQueue::Front() const
{
    const auto line = std::ranges::find_if(m_lines, [](const Line& l) { return !l.packets.empty(); });
    return line == m_lines.end() ? nullptr : &line->packets.front();
}

std::optional<Packet> TransmitQueue::Pop()
{
    return PopOf(std::ranges::find_if(m_lines, [](const Line& l) { return !l.packets.empty(); }));
}

std::optional<Packet> TransmitQueue::PopOlder(ns3::Time since)
{
    return PopOf(std::ranges::find_if(m_lines, [&](const Line& l) { return !l.packets.empty() && l.packets.front().entered < since; }));
}

std::optional<Packet> TransmitQueue::PopOf(std::vector<Line>::iterator line)
{
    if (line == m_lines.end())
    {
        return std::nullopt;
    }
    const auto packet = line->packets.front();
    line->packets.pop_front();
    line->bytes -= packet.frame.length;
    --m_packets;
    m_bytes[packet.frame.trafficClass] -= packet.frame.length;
    --m_counts[packet.frame.trafficClass];
    return packet;
}

std::uint64_t TransmitQueue::Bytes() const
{
    return std::accumulate(m_bytes.begin(), m_bytes.end(), std::uint64_t{0});
}

} // namespace netboxit
