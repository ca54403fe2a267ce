// SPDX-License-Identifier: GPL-2.0-or-later
#include "tcp_flows.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace netboxit::stages
{

namespace
{

/// A call of Expire stays short, even where a flood's flows all end at once; each segment opens one flow at most.
constexpr int REMOVED_AT_ONCE = 64;
/// A call of Insert stays short, too, where all flows send.
constexpr int CHANCES_AT_ONCE = 64;

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

TcpFlowKey::TcpFlowKey(const IpHeaders& ip, const TcpSegment& segment, Direction direction)
{
    const bool isFromNode = direction == Direction::FromNode;
    const auto* const node = (isFromNode ? ip.source : ip.destination).data();
    const auto* const remote = (isFromNode ? ip.destination : ip.source).data();
    m_node = WordsOf(node, ip.version);
    m_remote = WordsOf(remote, ip.version);
    const std::uint64_t nodePort = isFromNode ? segment.sourcePort : segment.destinationPort;
    const std::uint64_t remotePort = isFromNode ? segment.destinationPort : segment.sourcePort;
    m_ends = nodePort << 32 | remotePort << 8 | ip.version;
}

std::string TcpFlowKey::Text() const
{
    const auto version = Version();
    const auto end = [version](const AddressWords& words, std::uint64_t port)
    {
        const auto address = TextOf(IpAddress{words, version});
        return (version == 4 ? address : '[' + address + ']') + ':' + std::to_string(port);
    };
    return end(m_node, m_ends >> 32) + ' ' + end(m_remote, (m_ends >> 8) & 0xffff);
}

std::uint32_t TcpFlow::SegmentSize() const
{
    const auto mss = std::max(std::min(MssOf(node, key.Version()), MssOf(remote, key.Version())), SMALLEST_MSS);
    return node.timestamps && remote.timestamps ? mss - TIMESTAMPS : mss;
}

void TcpFlowKey::AddTo(SipHash& hash) const
{
    if (Version() == 4)
    {
        hash.Add(m_node[0] ^ std::rotl(m_remote[0], 32)); // both addresses: a word is two rounds
    }
    else
    {
        for (const auto word : {m_node[0], m_node[1], m_remote[0], m_remote[1]})
        {
            hash.Add(word);
        }
    }
    hash.Add(m_ends);
}

TcpFlows::TcpFlows(const SipHashKey& seed, Observer& observer)
    : m_observer(observer),
      m_slots(CAPACITY, seed)
{
}

std::optional<TcpFlows::Id> TcpFlows::See(const IpHeaders& ip, const TcpSegment& segment, Direction direction, std::int64_t now)
{
    const TcpFlowKey key(ip, segment, direction);
    auto found = m_slots.Find(key, [this](Id id) { m_observer.Fetch(id); });
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
    if (now - flow.listed >= LISTED_ANEW)
    {
        flow.listed = now;
        m_openByAge.MoveToBack(id);
    }
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
        const auto oldest = closed ? *closed : LongestIdle();
        m_evicted += closed ? 0 : 1;
        Close(oldest);
        Remove(oldest);
    }
    return m_slots.Insert(key);
}

/// Those that had a segment since they came to the end of the list go there again, so that no flood evicts who sends.
TcpFlows::Id TcpFlows::LongestIdle()
{
    for (int chances = 0; chances < CHANCES_AT_ONCE; ++chances)
    {
        const auto id = *m_openByAge.Front();
        auto& flow = m_slots[id];
        if (flow.seen == flow.listed)
        {
            break;
        }
        flow.listed = flow.seen;
        m_openByAge.MoveToBack(id);
    }
    return *m_openByAge.Front();
}

void TcpFlows::Remove(Id id)
{
    m_closedByAge.Remove(id);
    m_slots.Remove(id);
}

void TcpFlows::Begin(Id id, std::int64_t now)
{
    auto& flow = m_slots[id];
    flow = {.key = flow.key, .opened = now, .seen = now, .listed = now, .isOpen = true};
    m_closedByAge.Remove(id);
    m_openByAge.MoveToBack(id);
    m_incomplete.MoveToBack(id);
    m_nextEnd = std::min(m_nextEnd, now + HANDSHAKE);
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
    m_nextEnd = std::min(m_nextEnd, flow.seen + LINGER);
    --m_open;
    m_observer.Closed(id);
}

void TcpFlows::Expire(std::int64_t now)
{
    if (now <= m_nextEnd)
    {
        return;
    }
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
            m_nextEnd = NextEnd();
            return;
        }
    }
}

/// When the time of the first in one of the lists is over, if nothing more comes of it.
std::int64_t TcpFlows::NextEnd() const
{
    auto end = std::numeric_limits<std::int64_t>::max();
    if (const auto first = m_incomplete.Front())
    {
        end = std::min(end, m_slots[*first].opened + HANDSHAKE);
    }
    if (const auto first = m_openByAge.Front())
    {
        end = std::min(end, m_slots[*first].seen + IDLE);
    }
    if (const auto first = m_closedByAge.Front())
    {
        end = std::min(end, m_slots[*first].seen + LINGER);
    }
    return end;
}

} // namespace netboxit::stages
