// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "direction.h"
#include "index_list.h"
#include "ip_address.h"
#include "keyed_slots.h"
#include "tcp_segment.h"

#include "headers.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace netboxit::stages
{

/// What a TCP connection is known by, in words: each packet has one compared and hashed.
class TcpFlowKey
{
  public:
    TcpFlowKey() = default;
    TcpFlowKey(const IpHeaders& ip, const TcpSegment& segment, Direction direction);

    bool operator==(const TcpFlowKey& other) const
    {
        return m_ends == other.m_ends && m_node[0] == other.m_node[0] && m_remote[0] == other.m_remote[0] &&
               m_node[1] == other.m_node[1] && m_remote[1] == other.m_remote[1];
    }

    /// Of IP.
    std::uint8_t Version() const
    {
        return static_cast<std::uint8_t>(m_ends);
    }

    void AddTo(SipHash& hash) const;

    /// "10.0.0.1:40000 10.0.0.2:80", IPv6 as "[fd00::1]:40000 [fd00::2]:80": the node and the remote end.
    std::string Text() const;

  private:
    AddressWords m_node{};
    AddressWords m_remote{};
    std::uint64_t m_ends{}; ///< the node's port, the remote one, and the version
};

/// What the segments of a connection have shown.
struct TcpFlow
{
    /// Of one end.
    struct End
    {
        std::uint32_t initial{};
        std::optional<std::uint32_t> behindFin{}; ///< what an ACK of its FIN says at least
        std::optional<std::uint16_t> mss{};
        std::optional<std::uint8_t> scale{};
        bool timestamps{};
        bool isSeen{};
        bool hasSyn{}; ///< its SYN was seen, with `initial` and what the options said
    };

    /// Whether the handshake was seen: otherwise the scale of windows is unknown.
    bool HasHandshake() const
    {
        return node.hasSyn && remote.hasSyn;
    }

    /// By how many bits the windows that the remote end advertises are shifted, except in SYNs. Both ends must offer to scale (RFC 7323,
    /// section 2.2). Call with HasHandshake() only.
    std::uint8_t RemoteShift() const
    {
        return node.scale ? remote.scale.value_or(0) : std::uint8_t{0};
    }

    /// The largest payload of the node's segments, bytes: of what both ends announce, as both have their link in it, less the timestamps
    /// (RFC 6691). Call with HasHandshake() only.
    std::uint32_t SegmentSize() const;

    TcpFlowKey key{};
    End node{};
    End remote{};
    std::int64_t opened{}; ///< ns
    std::int64_t seen{};   ///< its last segment, ns
    std::int64_t listed{}; ///< when it came to the end of the list by age, ns
    /// More than SYNs came: a segment without SYN, and both ends have been seen. A SYN flood from forged addresses does not get so far.
    bool isComplete{};
    bool isOpen{};
};

/// The TCP connections that a gateway sees: at most CAPACITY. Each segment takes constant time (amortised) and allocates nothing.
class TcpFlows
{
  public:
    using Id = IndexList::Index; ///< below CAPACITY

    static constexpr Id CAPACITY = 65'536;
    /// An open flow without segments leaves after so long, ns: a lost FIN would count for ever otherwise.
    static constexpr std::int64_t IDLE = 120'000'000'000;
    /// A closed one is remembered for so long, ns, that its last segments do not open it again: as TIME-WAIT in Linux.
    static constexpr std::int64_t LINGER = 60'000'000'000;
    /// The list of open flows by age is right to so much, ns: a flow's place there, and those of its two neighbours, are three places in
    /// memory that each packet would fetch. Our own choice.
    static constexpr std::int64_t LISTED_ANEW = 1'000'000'000;
    /// A flow that is not complete after so long, ns, is stalled.
    static constexpr std::int64_t HANDSHAKE = 3'000'000'000;

    /// Is told of flows. Each one is opened, and later closed: by an RST, by an ACK of the node's FIN, by a new connection of the same
    /// ports, by silence, or because the table is full.
    class Observer
    {
      public:
        virtual ~Observer() = default;
        virtual void Opened(Id flow) = 0;
        virtual void Closed(Id flow) = 0;
        virtual void Stalled(Id flow) = 0;
        /// A segment may belong to this flow, so what is known of it may be asked for next: a good moment to fetch it from memory.
        virtual void Fetch([[maybe_unused]] Id flow) const {}
    };

    /// `seed`: what outsiders must not know, so that they cannot choose flows of one bucket. Nothing else depends on it. The observer
    /// outlives the table.
    TcpFlows(const SipHashKey& seed, Observer& observer);

    /// The open flow that the segment belongs to, after the segment; nothing when there is none (any more).
    std::optional<Id> See(const IpHeaders& ip, const TcpSegment& segment, Direction direction, std::int64_t now);
    /// Removes flows whose time is over, a limited number of them in each call.
    void Expire(std::int64_t now);

    const TcpFlow& operator[](Id id) const
    {
        return m_slots[id];
    }

    std::uint32_t Open() const
    {
        return m_open;
    }

    /// Open flows that were closed because the table was full.
    std::uint64_t Evicted() const
    {
        return m_evicted;
    }

    /// Open flows, the longest idle one first, to LISTED_ANEW.
    std::optional<Id> FirstOpen() const
    {
        return m_openByAge.Front();
    }

    std::optional<Id> NextOpen(Id id) const
    {
        return m_openByAge.After(id);
    }

  private:
    Id Insert(const TcpFlowKey& key);
    Id LongestIdle();
    void Remove(Id id);
    void Begin(Id id, std::int64_t now);
    void Close(Id id);
    void TakeSyn(TcpFlow& flow, const TcpSegment& segment, Direction direction);
    std::int64_t NextEnd() const;

    Observer& m_observer;
    KeyedSlots<TcpFlowKey, TcpFlow> m_slots;
    IndexList m_openByAge{CAPACITY}; ///< to LISTED_ANEW
    IndexList m_closedByAge{CAPACITY};
    IndexList m_incomplete{CAPACITY}; ///< and not stalled yet, the oldest first
    std::int64_t m_nextEnd{}; ///< nobody's time is over before, ns
    std::uint32_t m_open{};
    std::uint64_t m_evicted{};
};

} // namespace netboxit::stages
