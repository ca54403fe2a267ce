// SPDX-License-Identifier: GPL-2.0-or-later
#include "measured_flows.h"

namespace netboxit::stages
{

MeasuredFlows::MeasuredFlows(const SipHashKey& seed, TcpFlows::Observer* observer)
    : m_observer(observer),
      m_flows(seed, *this)
{
    m_rtts.reserve(TcpFlows::CAPACITY);
    m_nodes.reserve(TcpFlows::CAPACITY);
}

std::optional<MeasuredFlows::Packet> MeasuredFlows::Entering(const Headers& headers, std::int64_t now)
{
    const auto packet = PacketOf(headers, Direction::FromNode, now);
    if (packet && packet->segment.End() != packet->segment.sequence)
    {
        m_rtts[packet->flow].Sent(packet->segment.sequence, packet->segment.End(), now);
    }
    if (packet && packet->segment.ack && m_nodes[packet->flow].synAck)
    {
        auto& node = m_nodes[packet->flow];
        node.rtt = node.isRepeated ? 0 : now - *node.synAck;
        node.synAck.reset();
    }
    return packet;
}

std::optional<MeasuredFlows::Packet> MeasuredFlows::Leaving(
    const Headers& headers, std::int64_t now, std::optional<std::int64_t> window)
{
    auto packet = PacketOf(headers, Direction::ToNode, now);
    if (packet && packet->segment.ack)
    {
        packet->rtt = m_rtts[packet->flow].Acknowledged(packet->segment.acknowledgement, now, window);
        if (packet->segment.syn)
        {
            auto& node = m_nodes[packet->flow];
            node.isRepeated = node.synAck.has_value();
            node.synAck = now;
        }
    }
    return packet;
}

std::optional<MeasuredFlows::Packet> MeasuredFlows::PacketOf(const Headers& headers, Direction direction, std::int64_t now)
{
    const auto segment = ReadTcpSegment(headers);
    if (!segment)
    {
        m_unmanaged += headers.ip ? 1 : 0;
        return std::nullopt;
    }
    m_flows.Expire(now);
    const auto flow = m_flows.See(*headers.ip, *segment, direction, now);
    return flow ? std::optional(Packet{*segment, *flow}) : std::nullopt;
}

void MeasuredFlows::Opened(Id flow)
{
    if (flow >= m_rtts.size())
    {
        m_rtts.resize(flow + std::size_t{1});
        m_nodes.resize(m_rtts.size());
    }
    m_rtts[flow] = {};
    m_nodes[flow] = {};
    if (m_observer)
    {
        m_observer->Opened(flow);
    }
}

void MeasuredFlows::Closed(Id flow)
{
    if (m_observer)
    {
        m_observer->Closed(flow);
    }
}

void MeasuredFlows::Stalled(Id flow)
{
    if (m_observer)
    {
        m_observer->Stalled(flow);
    }
}

} // namespace netboxit::stages
