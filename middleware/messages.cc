// SPDX-License-Identifier: GPL-2.0-or-later
#include "messages.h"

#include "big_endian.h"

#include <algorithm>
#include <array>

namespace netboxit::middleware
{

namespace
{

constexpr std::uint16_t MAGIC = 0x4e42; ///< "NB"
constexpr std::uint8_t VERSION = 1;
constexpr std::size_t HEADER = 40;
constexpr std::size_t TAG_AT = 8;
constexpr std::size_t TAG = 8;
/// A join is as long as the longest answer, the grant: nobody who joins with another's address sends that host more than it spends itself.
constexpr std::size_t LONGEST = 88;
constexpr std::size_t JOIN_FILLING = 20;

constexpr unsigned BAD = 1;
constexpr unsigned REASSIGNS = 2;

/// By kind.
constexpr std::array<std::size_t, KINDS> LENGTHS{
    0, LONGEST, HEADER + 8, LONGEST, HEADER + 8, HEADER + 8, HEADER + 8, HEADER, HEADER, HEADER + 36};

void Put(BigEndianWriter& to, const Join& join)
{
    to.Put(join.token, 8);
    to.Put(join.heldInstance, 8);
    to.Put(join.heldEpoch, 8);
    to.Put(join.heldMembers, 4);
    to.Put(Bytes(std::array<std::uint8_t, JOIN_FILLING>{}));
}

void Put(BigEndianWriter& to, const Challenge& challenge)
{
    to.Put(challenge.token, 8);
}

void Put(BigEndianWriter& to, const Terms& terms)
{
    to.Put(terms.epoch, 8);
    to.Put(static_cast<std::uint64_t>(terms.share), 8);
    to.Put(terms.lease, 4);
    to.Put(terms.refresh, 4);
    to.Put(terms.members, 4);
    to.Put(terms.good, 4);
    to.Put(terms.announce, 4);
}

void Put(BigEndianWriter& to, const Grant& grant)
{
    Put(to, grant.terms);
    to.Put(static_cast<std::uint64_t>(grant.budget), 8);
    to.Put((grant.isBad ? BAD : 0U) | (grant.reassigns ? REASSIGNS : 0U), 1);
    to.Put(0, 3);
}

void Put(BigEndianWriter& to, const Refused& refused)
{
    to.Put(static_cast<unsigned>(refused.reason), 1);
    to.Put(0, 3);
    to.Put(refused.retry, 4);
}

void Put(BigEndianWriter& to, const Refresh& refresh)
{
    to.Put(refresh.epoch, 8);
}

void Put(BigEndianWriter& to, const Report& report)
{
    to.Put(static_cast<std::uint64_t>(report.access), 8);
}

void Put(BigEndianWriter&, const Leave&)
{
}

void Put(BigEndianWriter&, const Released&)
{
}

void Put(BigEndianWriter& to, const Announcement& announcement)
{
    Put(to, announcement.terms);
}

/// Nothing where it is more than any link has.
std::optional<Rate> GetRate(BigEndianReader& from)
{
    const auto rate = from.Get64();
    return rate <= static_cast<std::uint64_t>(MOST_RATE) ? std::optional(static_cast<Rate>(rate)) : std::nullopt;
}

// Each returns nothing where a field has a value that it cannot have. The length is right already.

std::optional<Body> GetJoin(BigEndianReader& from)
{
    const Join join{
        .token = from.Get64(), .heldInstance = from.Get64(), .heldEpoch = from.Get64(), .heldMembers = from.Get(4)};
    const auto isFilled = std::ranges::all_of(from.Take(JOIN_FILLING), [](auto byte) { return byte == 0; });
    const bool holdsNothing = join.heldEpoch == 0 && join.heldMembers == 0;
    return isFilled && (join.heldInstance != 0 || holdsNothing) ? std::optional<Body>(join) : std::nullopt;
}

std::optional<Terms> GetTerms(BigEndianReader& from)
{
    Terms terms{.epoch = from.Get64()};
    const auto share = GetRate(from);
    terms.share = share.value_or(0);
    terms.lease = from.Get(4);
    terms.refresh = from.Get(4);
    terms.members = from.Get(4);
    terms.good = from.Get(4);
    terms.announce = from.Get(4);
    const bool lasts = terms.refresh > 0 && terms.lease >= terms.refresh && terms.announce > 0;
    return share && lasts && terms.good <= terms.members ? std::optional(terms) : std::nullopt;
}

std::optional<Body> GetGrant(BigEndianReader& from)
{
    const auto terms = GetTerms(from);
    const auto budget = GetRate(from);
    const auto flags = from.Get(1);
    if (!terms || !budget || from.Get(3) != 0 || (flags & ~(BAD | REASSIGNS)) != 0)
    {
        return std::nullopt;
    }
    return Grant{.terms = *terms, .budget = *budget, .isBad = (flags & BAD) != 0, .reassigns = (flags & REASSIGNS) != 0};
}

std::optional<Body> GetRefused(BigEndianReader& from)
{
    const auto reason = static_cast<Reason>(from.Get(1));
    const auto filling = from.Get(3);
    const Refused refused{.reason = reason, .retry = from.Get(4)};
    const bool isKnown = reason == Reason::Full || reason == Reason::PerHost;
    return isKnown && filling == 0 ? std::optional<Body>(refused) : std::nullopt;
}

std::optional<Body> GetBody(Kind kind, BigEndianReader& from)
{
    switch (kind)
    {
    case Kind::Join:
        return GetJoin(from);
    case Kind::Challenge:
        return Challenge{from.Get64()};
    case Kind::Grant:
        return GetGrant(from);
    case Kind::Refused:
        return GetRefused(from);
    case Kind::Refresh:
        return Refresh{from.Get64()};
    case Kind::Report:
        if (const auto rate = GetRate(from))
        {
            return Report{*rate};
        }
        return std::nullopt;
    case Kind::Leave:
        return Leave{};
    case Kind::Released:
        return Released{};
    case Kind::Announcement:
        if (const auto terms = GetTerms(from))
        {
            return Announcement{*terms};
        }
        return std::nullopt;
    }
    return std::nullopt;
}

/// An announcement belongs to no session, all others to one; what an allocator says names its instance.
bool IsAddressed(Kind kind, const Header& header)
{
    switch (kind)
    {
    case Kind::Announcement:
        return header.session == 0 && header.sequence == 0 && header.instance != 0;
    case Kind::Challenge:
    case Kind::Grant:
    case Kind::Refused:
    case Kind::Released:
        return header.session != 0 && header.sequence != 0 && header.instance != 0;
    default:
        return header.session != 0 && header.sequence != 0;
    }
}

/// Of the message without the tag.
std::uint64_t TagOf(std::span<const std::uint8_t> bytes, const Key& key)
{
    std::array<std::uint8_t, LONGEST> covered{};
    std::copy_n(bytes.begin(), bytes.size(), covered.begin());
    std::fill_n(covered.begin() + TAG_AT, TAG, std::uint8_t{0});
    return SipHashOf(key, std::span(covered).first(bytes.size()));
}

} // namespace

std::string_view NameOf(Fault fault)
{
    constexpr std::array<std::string_view, FAULTS> NAMES{"size", "magic", "version", "tag", "kind", "length", "value"};
    return NAMES[static_cast<std::size_t>(fault)];
}

std::size_t LengthOf(Kind kind)
{
    return LENGTHS[static_cast<std::size_t>(kind)];
}

std::vector<std::uint8_t> WriteMessage(const Message& message, const Key& key)
{
    const auto kind = message.WhatKind();
    const auto& header = message.header;
    BigEndianWriter writer;
    writer.Put(MAGIC, 2);
    writer.Put(VERSION, 1);
    writer.Put(static_cast<unsigned>(kind), 1);
    writer.Put(LengthOf(kind), 2);
    writer.Put(0, 2);
    writer.Put(0, TAG);
    writer.Put(header.domain, 4);
    writer.Put(header.sequence, 4);
    writer.Put(header.session, 8);
    writer.Put(header.instance, 8);
    std::visit([&writer](const auto& body) { Put(writer, body); }, message.body);

    auto bytes = writer.Written();
    const auto tag = TagOf(bytes, key);
    for (unsigned byte = 0; byte < TAG; ++byte)
    {
        bytes[TAG_AT + byte] = static_cast<std::uint8_t>(tag >> (56 - 8 * byte));
    }
    return bytes;
}

std::variant<Message, Fault> ReadMessage(std::span<const std::uint8_t> bytes, const Key& key)
{
    if (bytes.size() < HEADER || bytes.size() > LONGEST)
    {
        return Fault::Size;
    }
    BigEndianReader reader(bytes);
    if (reader.Get(2) != MAGIC)
    {
        return Fault::Magic;
    }
    if (reader.Get(1) != VERSION)
    {
        return Fault::Version;
    }
    const auto number = reader.Get(1);
    const auto length = reader.Get(2);
    const auto reserved = reader.Get(2);
    if (reader.Get64() != TagOf(bytes, key))
    {
        return Fault::Tag;
    }
    if (number == 0 || number >= KINDS)
    {
        return Fault::Kind;
    }
    const auto kind = static_cast<Kind>(number);
    if (bytes.size() != LengthOf(kind) || length != bytes.size())
    {
        return Fault::Length;
    }
    const Header header{
        .domain = reader.Get(4), .sequence = reader.Get(4), .session = reader.Get64(), .instance = reader.Get64()};
    const auto body = GetBody(kind, reader);
    if (reserved != 0 || !IsAddressed(kind, header) || !body)
    {
        return Fault::Value;
    }
    return Message{.header = header, .body = *body};
}

} // namespace netboxit::middleware
