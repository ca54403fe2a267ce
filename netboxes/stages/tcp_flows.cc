// SPDX-License-Identifier: GPL-2.0-or-later
#include "tcp_flows.h"

#include <algorithm>

namespace netboxit::stages
{

namespace
{

/// A call of Expire stays short, even where a flood's flows all end at once; each segment opens one flow at most.
constexpr int REMOVED_AT_ONCE = 64;

/// What a host takes for the other's MSS without an option (RFC 9293, section 3.7.1), bytes.
constexpr std::uint32_t DEFAULT_MSS_IPV4 = 536;
constexpr std::uint32_t DEFAULT_MSS_IPV6 = 1220;
/// No host sends smaller ones, whatever the other end asks for: Linux's net.ipv4.tcp_min_snd_mss, bytes.
constexpr std::uint32_t SMALLEST_MSS = 48;
/// RFC 7323, appendix A: 10 bytes and 2 of padding.
constexpr std::uint32_t TIMESTAMPS = 12;

std::uint32_t MssOf(const TcpFlow::End& end, std::uint8_t version)
{
    return end.mss.value_or(version == 4 ? DEFAULT_MSS_IPV4 : DEFAULT_MSS_IPV6);
}

} // namespace

TcpFlowKey KeyOf(const IpHeaders& ip, const TcpSegment& segment, Direction direction)
{
    TcpFlowKey key{.version = ip.version};
    const bool fromNode = direction == Direction::FromNode;
    std::ranges::copy(fromNode ? ip.source : ip.destination, key.node.begin());
    std::ranges::copy(fromNode ? ip.destination : ip.source, key.remote.begin());
    key.nodePort = fromNode ? segment.sourcePort : segment.destinationPort;
    key.remotePort = fromNode ? segment.destinationPort : segment.sourcePort;
    return key;
}

std::uint32_t TcpFlow::SegmentSize() const
{
    const auto mss = std::max(std::min(MssOf(node, key.version), MssOf(remote, key.version)), SMALLEST_MSS);
    return node.timestamps && remote.timestamps ? mss - TIMESTAMPS : mss;
}

void TcpFlowKey::AddTo(SipHash& hash) const
{
    hash.Add(node);
    hash.Add(remote);
    hash.Add(std::uint64_t{nodePort} << 32 | std::uint64_t{remotePort} << 8 | version);
}

TcpFlows::TcpFlows(const SipHashKey& seed, Observer& observer)
    : m_observer(observer),
      m_slots(CAPACITY, seed)
{
}

std::optional<TcpFlows::Id> TcpFlows::See(const IpHeaders& ip, const TcpSegment& segment, Direction direction, std::int64_t now)
{
    const auto key = KeyOf(ip, segment, direction);
    auto found = m_slots.Find(key);
    const bool isSyn = segment.syn && !segment.ack && !segment.rst;
    if (!found)
    {
        if (segment.rst)
        {
            return std::nullopt;
        }
        found = Insert(key);
        Begin(*found, now);
    }
    const auto id = *found;
    auto& flow = m_slots[id];
    auto& sender = direction == Direction::FromNode ? flow.node : flow.remote;
    const bool isNew = sender.hasSyn ? sender.initial != segment.sequence : flow.isComplete;
    if (isSyn && (!flow.isOpen || isNew)) // not sent again, and not the other one of two that cross: the ports are used anew
    {
        Close(id);
        Begin(id, now);
    }
    if (!flow.isOpen)
    {
        return std::nullopt;
    }
    flow.seen = now;
    m_openByAge.MoveToBack(id);
    sender.isSeen = true;
    if (segment.rst)
    {
        Close(id);
        return std::nullopt;
    }
    if (segment.syn)
    {
        TakeSyn(flow, segment, direction);
    }
    else if (!flow.isComplete && flow.node.isSeen && flow.remote.isSeen)
    {
        flow.isComplete = true;
        m_incomplete.Remove(id);
    }
    if (segment.fin)
    {
        sender.behindFin = segment.End();
    }
    if (direction == Direction::ToNode && segment.ack && flow.node.behindFin && !IsAfter(*flow.node.behindFin, segment.acknowledgement))
    {
        Close(id);
        return std::nullopt;
    }
    return id;
}

void TcpFlows::TakeSyn(TcpFlow& flow, const TcpSegment& segment, Direction direction)
{
    auto& sender = direction == Direction::FromNode ? flow.node : flow.remote;
    const auto& receiver = direction == Direction::FromNode ? flow.remote : flow.node;
    if (flow.isComplete || (segment.ack && (!receiver.hasSyn || segment.acknowledgement != receiver.initial + 1)))
    {
        return; // no part of this handshake
    }
    sender.hasSyn = true;
    sender.initial = segment.sequence;
    sender.mss = segment.mss;
    sender.scale = segment.windowScale;
    sender.timestamps = segment.timestamps;
}

TcpFlows::Id TcpFlows::Insert(const TcpFlowKey& key)
{
    if (m_slots.IsFull())
    {
        const auto closed = m_closedByAge.Front();
        const auto oldest = closed ? *closed : *m_openByAge.Front();
        m_evicted += closed ? 0 : 1;
        Close(oldest);
        Remove(oldest);
    }
    return m_slots.Insert(key);
}

void TcpFlows::Remove(Id id)
{
    m_closedByAge.Remove(id);
    m_slots.Remove(id);
}

void TcpFlows::Begin(Id id, std::int64_t now)
{
    auto& flow = m_slots[id];
    flow = {.key = flow.key, .opened = now, .seen = now, .isOpen = true};
    m_closedByAge.Remove(id);
    m_openByAge.MoveToBack(id);
    m_incomplete.MoveToBack(id);
    ++m_open;
    m_observer.Opened(id);
}

void TcpFlows::Close(Id id)
{
    auto& flow = m_slots[id];
    if (!flow.isOpen)
    {
        return;
    }
    flow.isOpen = false;
    m_openByAge.Remove(id);
    m_incomplete.Remove(id);
    m_closedByAge.MoveToBack(id);
    --m_open;
    m_observer.Closed(id);
}

void TcpFlows::Expire(std::int64_t now)
{
    for (int removed = 0; removed < REMOVED_AT_ONCE; ++removed)
    {
        const auto stalled = m_incomplete.Front();
        const auto idle = m_openByAge.Front();
        const auto closed = m_closedByAge.Front();
        if (stalled && now - m_slots[*stalled].opened > HANDSHAKE)
        {
            m_incomplete.Remove(*stalled);
            m_observer.Stalled(*stalled);
        }
        else if (idle && now - m_slots[*idle].seen > IDLE)
        {
            Close(*idle);
            Remove(*idle);
        }
        else if (closed && now - m_slots[*closed].seen > LINGER)
        {
            Remove(*closed);
        }
        else
        {
            return;
        }
    }
}

} // namespace netboxit::stages
