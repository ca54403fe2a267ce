// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "big_endian.h"

namespace netboxit::ospf
{

// What OSPF version 2 sends (RFC 2328, appendix A), as far as it is spoken here: one area, router-LSAs, no authentication.

/// An IPv4 address, network or router ID as a number.
using Id = std::uint32_t;

enum class Kind : std::uint8_t
{
    Hello = 1,
    Description = 2,
    Request = 3,
    Update = 4,
    Acknowledgement = 5,
};

/// Of a link that a router advertises (A.4.2).
enum class LinkKind : std::uint8_t
{
    PointToPoint = 1, ///< `id` is the neighbour's router ID, `data` the router's own address
    Stub = 3,         ///< `id` is the network's address, `data` its mask
};

struct Link
{
    Id id;
    Id data;
    LinkKind kind;
    std::uint16_t metric;

    auto operator<=>(const Link&) const = default;
};

/// Which instance of a router's advertisement (A.4.1).
struct LsaHeader
{
    Id router;
    std::int32_t sequence;
    std::uint16_t checksum;
    std::uint16_t length;

    bool operator==(const LsaHeader&) const = default;
};

/// Whether the first one is newer (13.1). There is no age here: nothing is refreshed and nothing expires.
bool IsNewer(const LsaHeader& left, const LsaHeader& right);

/// A router-LSA. Its bytes are what was received, and are sent on as they are.
struct Lsa
{
    LsaHeader header;
    std::vector<Link> links;
    std::vector<std::uint8_t> bytes;
};

constexpr std::int32_t FIRST_SEQUENCE = -0x7fffffff;
constexpr std::size_t LSA_HEADER = 20;
/// Of OSPF itself.
constexpr std::size_t HEADER = 24;

struct Hello
{
    Id mask;
    std::uint32_t interval; ///< s
    std::uint32_t dead;     ///< s
    std::vector<Id> neighbours;
};

struct Description
{
    bool init;
    bool more;
    bool master;
    std::uint32_t sequence;
    std::vector<LsaHeader> headers;

    bool operator==(const Description&) const = default;
};

struct Message
{
    Kind kind;
    Id router;
    Bytes body;
};

Lsa MakeLsa(Id router, std::int32_t sequence, std::vector<Link> links);

std::vector<std::uint8_t> Write(Id router, const Hello& hello);
std::vector<std::uint8_t> Write(Id router, const Description& description, std::uint16_t mtu);
std::vector<std::uint8_t> WriteRequest(Id router, const std::vector<Id>& advertising);
/// An update or an acknowledgement of no more than `room` bytes at least one LSA long: takes from the front of `all` what has room.
std::vector<std::uint8_t> WriteUpdate(Id router, std::vector<const Lsa*>& all, std::size_t room);
std::vector<std::uint8_t> WriteAcknowledgement(Id router, const std::vector<LsaHeader>& headers);

// Nothing, where it is malformed, or of a kind that is not spoken here.

std::optional<Message> ReadMessage(Bytes packet);
std::optional<Hello> ReadHello(Bytes body);
std::optional<Description> ReadDescription(Bytes body);
std::vector<Id> ReadRequest(Bytes body);
/// Those whose checksums are right.
std::vector<Lsa> ReadUpdate(Bytes body);
std::vector<LsaHeader> ReadAcknowledgement(Bytes body);

} // namespace netboxit::ospf
