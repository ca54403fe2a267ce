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

TcpFlowKey KeyOf(const IpHeaders& ip, const TcpSegment& segment, Way way)
{
    TcpFlowKey key{.version = ip.version};
    const bool fromNode = way == Way::FromNode;
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
    : seed(seed),
      observer(observer),
      buckets(BUCKETS, NONE)
{
    slots.reserve(CAPACITY);
    unused.reserve(CAPACITY);
}

std::size_t TcpFlows::BucketOf(const TcpFlowKey& key) const
{
    SipHash hash(seed);
    AddAddress(hash, key.node);
    AddAddress(hash, key.remote);
    hash.Add(std::uint64_t{key.nodePort} << 32 | std::uint64_t{key.remotePort} << 8 | key.version);
    return hash.Finish() % BUCKETS;
}

std::optional<TcpFlows::Id> TcpFlows::Find(const TcpFlowKey& key) const
{
    for (auto id = buckets[BucketOf(key)]; id != NONE; id = slots[id].nextInBucket)
    {
        if (slots[id].flow.key == key)
        {
            return id;
        }
    }
    return std::nullopt;
}

std::optional<TcpFlows::Id> TcpFlows::See(const IpHeaders& ip, const TcpSegment& segment, Way way, std::int64_t now)
{
    const auto key = KeyOf(ip, segment, way);
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
    auto& flow = slots[id].flow;
    auto& sender = way == Way::FromNode ? flow.node : flow.remote;
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
    openByAge.MoveToBack(id);
    sender.isSeen = true;
    if (segment.rst)
    {
        Close(id);
        return std::nullopt;
    }
    if (segment.syn)
    {
        TakeSyn(flow, segment, way);
    }
    else if (!flow.isComplete && flow.node.isSeen && flow.remote.isSeen)
    {
        flow.isComplete = true;
        incomplete.Remove(id);
    }
    if (segment.fin)
    {
        sender.behindFin = segment.End();
    }
    if (way == Way::ToNode && segment.ack && flow.node.behindFin && !IsAfter(*flow.node.behindFin, segment.acknowledgement))
    {
        Close(id);
        return std::nullopt;
    }
    return id;
}

void TcpFlows::TakeSyn(TcpFlow& flow, const TcpSegment& segment, Way way)
{
    auto& sender = way == Way::FromNode ? flow.node : flow.remote;
    const auto& receiver = way == Way::FromNode ? flow.remote : flow.node;
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
    if (slots.size() == CAPACITY && unused.empty())
    {
        const auto closed = closedByAge.Front();
        const auto oldest = closed ? *closed : *openByAge.Front();
        evicted += closed ? 0 : 1;
        Close(oldest);
        Remove(oldest);
    }
    Id id = static_cast<Id>(slots.size());
    if (unused.empty())
    {
        slots.emplace_back();
    }
    else
    {
        id = unused.back();
        unused.pop_back();
    }
    auto& bucket = buckets[BucketOf(key)];
    slots[id] = {.flow = {.key = key}, .nextInBucket = bucket};
    bucket = id;
    return id;
}

void TcpFlows::Remove(Id id)
{
    auto* link = &buckets[BucketOf(slots[id].flow.key)];
    while (*link != id)
    {
        link = &slots[*link].nextInBucket;
    }
    *link = slots[id].nextInBucket;
    closedByAge.Remove(id);
    unused.push_back(id);
}

void TcpFlows::Begin(Id id, std::int64_t now)
{
    auto& flow = slots[id].flow;
    flow = {.key = flow.key, .opened = now, .seen = now, .isOpen = true};
    closedByAge.Remove(id);
    openByAge.MoveToBack(id);
    incomplete.MoveToBack(id);
    ++open;
    observer.Opened(id);
}

void TcpFlows::Close(Id id)
{
    auto& flow = slots[id].flow;
    if (!flow.isOpen)
    {
        return;
    }
    flow.isOpen = false;
    openByAge.Remove(id);
    incomplete.Remove(id);
    closedByAge.MoveToBack(id);
    --open;
    observer.Closed(id);
}

void TcpFlows::Expire(std::int64_t now)
{
    for (int removed = 0; removed < REMOVED_AT_ONCE; ++removed)
    {
        const auto stalled = incomplete.Front();
        const auto idle = openByAge.Front();
        const auto closed = closedByAge.Front();
        if (stalled && now - slots[*stalled].flow.opened > HANDSHAKE)
        {
            incomplete.Remove(*stalled);
            observer.Stalled(*stalled);
        }
        else if (idle && now - slots[*idle].flow.seen > IDLE)
        {
            Close(*idle);
            Remove(*idle);
        }
        else if (closed && now - slots[*closed].flow.seen > LINGER)
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
