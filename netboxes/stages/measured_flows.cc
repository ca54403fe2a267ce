// SPDX-License-Identifier: GPL-2.0-or-later
#include "measured_flows.h"

#include "fetch.h"

namespace netboxit::stages
{

MeasuredFlows::MeasuredFlows(const SipHashKey& seed, TcpFlows::Observer* observer)
    : m_observer(observer),
      m_flows(seed, *this)
{
    m_paths.reserve(TcpFlows::CAPACITY);
}

std::optional<TcpSegment> MeasuredFlows::Read(const Headers& headers)
{
    auto segment = ReadTcpSegment(headers);
    m_unmanaged += !segment && headers.ip ? 1 : 0;
    return segment;
}

std::optional<MeasuredFlows::Id> MeasuredFlows::Entering(const IpHeaders& ip, const TcpSegment& segment, std::int64_t now)
{
    m_flows.Expire(now);
    const auto flow = m_flows.See(ip, segment, Direction::FromNode, now);
    if (!flow)
    {
        return flow;
    }
    auto& path = m_paths[*flow];
    if (segment.End() != segment.sequence)
    {
        path.remote.Sent(segment.sequence, segment.End(), now);
    }
    if (segment.ack && path.node.synAck)
    {
        path.node.rtt = path.node.isRepeated ? 0 : now - *path.node.synAck;
        path.node.synAck.reset();
    }
    return flow;
}

std::optional<MeasuredFlows::Answer> MeasuredFlows::Leaving(
    const IpHeaders& ip, const TcpSegment& segment, std::int64_t now, std::optional<std::int64_t> window)
{
    m_flows.Expire(now);
    const auto flow = m_flows.See(ip, segment, Direction::ToNode, now);
    if (!flow)
    {
        return std::nullopt;
    }
    Answer answer{.flow = *flow};
    if (segment.ack)
    {
        auto& path = m_paths[*flow];
        answer.rtt = path.remote.Acknowledged(segment.acknowledgement, now, window);
        if (segment.syn)
        {
            path.node.isRepeated = path.node.synAck.has_value();
            path.node.synAck = now;
        }
    }
    return answer;
}

void MeasuredFlows::Opened(Id flow)
{
    if (flow >= m_paths.size())
    {
        m_paths.resize(flow + std::size_t{1});
    }
    m_paths[flow] = {};
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

void MeasuredFlows::Fetch(Id flow) const
{
    FetchToWrite(m_paths[flow]);
    if (m_observer)
    {
        m_observer->Fetch(flow);
    }
}

} // namespace netboxit::stages
