// SPDX-License-Identifier: GPL-2.0-or-later
#include "tcp_flows.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace netboxit::stages
{

namespace
{

constexpr TcpFlows::Id NONE = 0xffffffff;
constexpr std::size_t BUCKETS = std::size_t{TcpFlows::CAPACITY} * 2;
/// A call of Expire stays short, even where a flood's flows all end at once; each segment opens one flow at most.
constexpr int REMOVED_AT_ONCE = 64;

/// What a host takes for the other's MSS without an option (RFC 9293, section 3.7.1), bytes.
constexpr std::uint32_t DEFAULT_MSS_IPV4 = 536;
constexpr std::uint32_t DEFAULT_MSS_IPV6 = 1220;
/// No host sends smaller ones, whatever the other end asks for: Linux's net.ipv4.tcp_min_snd_mss, bytes.
constexpr std::uint32_t SMALLEST_MSS = 48;
/// RFC 7323, appendix A: 10 bytes and 2 of padding.
constexpr std::uint32_t TIMESTAMPS = 12;

/// SipHash-2-4 of whole words: J.-P. Aumasson, D. J. Bernstein, "SipHash: a fast short-input PRF", INDOCRYPT 2012.
class SipHash
{
  public:
    explicit SipHash(const std::array<std::uint64_t, 2>& key)
        : v{key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d, key[0] ^ 0x6c7967656e657261, key[1] ^ 0x7465646279746573}
    {
    }

    void Add(std::uint64_t word)
    {
        v[3] ^= word;
        Round();
        Round();
        v[0] ^= word;
    }

    std::uint64_t Finish()
    {
        v[2] ^= 0xff;
        for (int round = 0; round < 4; ++round)
        {
            Round();
        }
        return v[0] ^ v[1] ^ v[2] ^ v[3];
    }

  private:
    void Round()
    {
        v[0] += v[1];
        v[1] = std::rotl(v[1], 13) ^ v[0];
        v[0] = std::rotl(v[0], 32);
        v[2] += v[3];
        v[3] = std::rotl(v[3], 16) ^ v[2];
        v[0] += v[3];
        v[3] = std::rotl(v[3], 21) ^ v[0];
        v[2] += v[1];
        v[1] = std::rotl(v[1], 17) ^ v[2];
        v[2] = std::rotl(v[2], 32);
    }

    std::array<std::uint64_t, 4> v;
};

void AddAddress(SipHash& hash, const std::array<std::uint8_t, 16>& address)
{
    std::array<std::uint64_t, 2> words{};
    std::memcpy(words.data(), address.data(), address.size());
    hash.Add(words[0]);
    hash.Add(words[1]);
}

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

TcpFlows::TcpFlows(const std::array<std::uint64_t, 2>& seed, Observer& observer)
    : m_seed(seed),
      m_observer(observer),
      m_buckets(BUCKETS, NONE)
{
    m_slots.reserve(CAPACITY);
    m_unused.reserve(CAPACITY);
}

std::size_t TcpFlows::BucketOf(const TcpFlowKey& key) const
{
    SipHash hash(m_seed);
    AddAddress(hash, key.node);
    AddAddress(hash, key.remote);
    hash.Add(std::uint64_t{key.nodePort} << 32 | std::uint64_t{key.remotePort} << 8 | key.version);
    return hash.Finish() % BUCKETS;
}

std::optional<TcpFlows::Id> TcpFlows::Find(const TcpFlowKey& key) const
{
    for (auto id = m_buckets[BucketOf(key)]; id != NONE; id = m_slots[id].nextInBucket)
    {
        if (m_slots[id].flow.key == key)
        {
            return id;
        }
    }
    return std::nullopt;
}

std::optional<TcpFlows::Id> TcpFlows::See(const IpHeaders& ip, const TcpSegment& segment, Direction direction, std::int64_t now)
{
    const auto key = KeyOf(ip, segment, direction);
    auto found = Find(key);
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
    auto& flow = m_slots[id].flow;
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
    if (m_slots.size() == CAPACITY && m_unused.empty())
    {
        const auto closed = m_closedByAge.Front();
        const auto oldest = closed ? *closed : *m_openByAge.Front();
        m_evicted += closed ? 0 : 1;
        Close(oldest);
        Remove(oldest);
    }
    Id id = static_cast<Id>(m_slots.size());
    if (m_unused.empty())
    {
        m_slots.emplace_back();
    }
    else
    {
        id = m_unused.back();
        m_unused.pop_back();
    }
    auto& bucket = m_buckets[BucketOf(key)];
    m_slots[id] = {.flow = {.key = key}, .nextInBucket = bucket};
    bucket = id;
    return id;
}

void TcpFlows::Remove(Id id)
{
    auto* link = &m_buckets[BucketOf(m_slots[id].flow.key)];
    while (*link != id)
    {
        link = &m_slots[*link].nextInBucket;
    }
    *link = m_slots[id].nextInBucket;
    m_closedByAge.Remove(id);
    m_unused.push_back(id);
}

void TcpFlows::Begin(Id id, std::int64_t now)
{
    auto& flow = m_slots[id].flow;
    flow = {.key = flow.key, .opened = now, .seen = now, .isOpen = true};
    m_closedByAge.Remove(id);
    m_openByAge.MoveToBack(id);
    m_incomplete.MoveToBack(id);
    ++m_open;
    m_observer.Opened(id);
}

void TcpFlows::Close(Id id)
{
    auto& flow = m_slots[id].flow;
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
        if (stalled && now - m_slots[*stalled].flow.opened > HANDSHAKE)
        {
            m_incomplete.Remove(*stalled);
            m_observer.Stalled(*stalled);
        }
        else if (idle && now - m_slots[*idle].flow.seen > IDLE)
        {
            Close(*idle);
            Remove(*idle);
        }
        else if (closed && now - m_slots[*closed].flow.seen > LINGER)
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
