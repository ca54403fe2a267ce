// SPDX-License-Identifier: GPL-2.0-or-later
#include "transmit_queue.h"

#include <algorithm>

namespace netboxit
{

TransmitQueue::TransmitQueue(std::size_t classes, bool priority) : m_lines(priority ? classes : 1)
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
    return true;
}

std::optional<Packet> TransmitQueue::Pop()
{
    const auto line = std::ranges::find_if(m_lines, [](const Line& l) { return !l.packets.empty(); });
    if (line == m_lines.end())
    {
        return std::nullopt;
    }
    const auto packet = line->packets.front();
    line->packets.pop_front();
    line->bytes -= packet.frame.length;
    return packet;
}

std::size_t TransmitQueue::Packets() const
{
    std::size_t packets = 0;
    for (const auto& line : m_lines)
    {
        packets += line.packets.size();
    }
    return packets;
}

std::uint64_t TransmitQueue::Bytes() const
{
    std::uint64_t bytes = 0;
    for (const auto& line : m_lines)
    {
        bytes += line.bytes;
    }
    return bytes;
}

} // namespace netboxit
