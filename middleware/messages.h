// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "rate.h"
#include "sip_hash.h"

#include <cstddef>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

namespace netboxit::middleware
{

/// Of the code that messages have.
using Key = SipHashKey;

// What allocator and members say to each other, one message in a datagram of UDP. README.md has the bytes.

/// The allocator's port of UDP, and the members'. The numbers are those of C2ML's public source, which uses TCP.
inline constexpr std::uint16_t ALLOCATOR_PORT = 25'522;
inline constexpr std::uint16_t MEMBER_PORT = 25'523;

enum class Kind : std::uint8_t
{
    Join = 1,         ///< member to allocator: CLIENT_HELLO
    Challenge = 2,    ///< allocator to member: join again, with this token
    Grant = 3,        ///< allocator to member: AVAIL_BW, ACK_HELLO and ACK_USED for one member, with a lease
    Refused = 4,      ///< allocator to member
    Refresh = 5,      ///< member to allocator: prolong the lease
    Report = 6,       ///< member to allocator: USED_BW, which prolongs the lease, too
    Leave = 7,        ///< member to allocator: CLIENT_BYE
    Released = 8,     ///< allocator to member: it left
    Announcement = 9, ///< allocator to all members: AVAIL_BW
};

/// The most kinds there are, and 1 more.
inline constexpr std::size_t KINDS = 10;

/// In front of each message.
struct Header
{
    std::uint32_t domain{};   ///< the managed bottleneck: several may have their allocators in one network
    std::uint32_t sequence{}; ///< of the member's message, from 1; an answer repeats it; 0 in an announcement
    std::uint64_t session{};  ///< a secret random number of the member's, not 0; an answer repeats it; 0 in an announcement
    std::uint64_t instance{}; ///< random number of this start of the allocator; 0 where a member knows none

    bool operator==(const Header&) const = default;
};

/// What a member held of another instance of the allocator is all zero if it held nothing.
struct Join
{
    std::uint64_t token{}; ///< of a challenge; 0 without one
    std::uint64_t heldInstance{};
    std::uint64_t heldEpoch{};
    std::uint32_t heldMembers{}; ///< how many shared the link, as far as the member knows

    bool operator==(const Join&) const = default;
};

struct Challenge
{
    std::uint64_t token{};

    bool operator==(const Challenge&) const = default;
};

/// What applies to all members.
struct Terms
{
    std::uint64_t epoch{};    ///< number of the change that made these terms
    Rate share{};             ///< of a member; with DyBRA of a good one
    std::uint32_t lease{};    ///< ms from the request on: how long a grant lasts
    std::uint32_t refresh{};  ///< ms: how often a member refreshes its lease
    std::uint32_t members{};  ///< how many share the link
    std::uint32_t good{};     ///< of them; all without DyBRA
    std::uint32_t announce{}; ///< ms: the longest time until the next announcement

    bool operator==(const Terms&) const = default;
};

struct Grant
{
    Terms terms;
    Rate budget{};    ///< of this member
    bool isBad{};     ///< its state of DyBRA
    bool reassigns{}; ///< the allocator takes reports of access rates

    bool operator==(const Grant&) const = default;
};

enum class Reason : std::uint8_t
{
    Full = 1,    ///< the allocator has no room for another member
    PerHost = 2, ///< as many members as are permitted have this host's address
};

struct Refused
{
    Reason reason{};
    std::uint32_t retry{}; ///< ms after which the member may try again

    bool operator==(const Refused&) const = default;
};

struct Refresh
{
    std::uint64_t epoch{}; ///< that the member has applied

    bool operator==(const Refresh&) const = default;
};

struct Report
{
    Rate access{}; ///< that the member can use

    bool operator==(const Report&) const = default;
};

struct Leave
{
    bool operator==(const Leave&) const = default;
};

struct Released
{
    bool operator==(const Released&) const = default;
};

struct Announcement
{
    Terms terms;

    bool operator==(const Announcement&) const = default;
};

/// In the order of Kind.
using Body = std::variant<Join, Challenge, Grant, Refused, Refresh, Report, Leave, Released, Announcement>;

struct Message
{
    Header header;
    Body body;

    Kind WhatKind() const
    {
        return static_cast<Kind>(body.index() + 1);
    }

    bool operator==(const Message&) const = default;
};

/// Why bytes are no message. They are tried in this order.
enum class Fault : std::uint8_t
{
    Size,    ///< less than a header, or more than the longest message
    Magic,   ///< of another protocol
    Version, ///< of another version of this one
    Tag,     ///< changed on its way, or made with another key
    Kind,    ///< no kind of this version
    Length,  ///< not as long as its kind is, or not as it says itself
    Value,   ///< a field has a value that it cannot have
};

inline constexpr std::size_t FAULTS = 7;

/// In statistics.
std::string_view NameOf(Fault fault);

/// Bytes of a message of this kind.
std::size_t LengthOf(Kind kind);

/// `key` is the group's. With the key 0, 0 anybody can make the tag, which is a checksum then.
std::vector<std::uint8_t> WriteMessage(const Message& message, const Key& key);
std::variant<Message, Fault> ReadMessage(std::span<const std::uint8_t> bytes, const Key& key);

} // namespace netboxit::middleware
