// SPDX-License-Identifier: GPL-2.0-or-later
#include "ospf_messages.h"

#include "frame_check.h"

#include <algorithm>

namespace netboxit::ospf
{

namespace
{

constexpr unsigned VERSION = 2;
/// AS-external routes can be told (A.2); RFC 2328 wants it of all routers of an area that is no stub.
constexpr unsigned EXTERNAL = 0x02;
constexpr unsigned PRIORITY = 1;
constexpr unsigned ROUTER_LSA = 1;
constexpr unsigned INIT = 4;
constexpr unsigned MORE = 2;
constexpr unsigned MASTER = 1;
constexpr std::size_t CHECKSUM_AT = 12;
constexpr std::size_t AUTHENTICATION_AT = 16;
/// Of an LSA.
constexpr std::size_t AGE = 2;
constexpr std::size_t LSA_CHECKSUM_AT = 16;
constexpr std::size_t LINK = 12;

BigEndianWriter Begin(Kind kind, Id router)
{
    BigEndianWriter packet;
    packet.Put(VERSION, 1);
    packet.Put(static_cast<unsigned>(kind), 1);
    packet.Put(0, 2); // length
    packet.Put(router, 4);
    packet.Put(0, 4); // area
    packet.Put(0, 4); // checksum, kind of authentication
    packet.Put(0, 8); // authentication
    return packet;
}

std::vector<std::uint8_t> End(BigEndianWriter packet)
{
    packet.Set16(2, static_cast<std::uint16_t>(packet.Written().size()));
    packet.Set16(CHECKSUM_AT, InternetChecksum({packet.Written()}));
    return packet.Written();
}

void PutHeader(BigEndianWriter& packet, const LsaHeader& header)
{
    packet.Put(0, 2); // age
    packet.Put(EXTERNAL, 1);
    packet.Put(ROUTER_LSA, 1);
    packet.Put(header.router, 4);
    packet.Put(header.router, 4);
    packet.Put(static_cast<std::uint32_t>(header.sequence), 4);
    packet.Put(header.checksum, 2);
    packet.Put(header.length, 2);
}

/// False where it is not that of a router-LSA.
bool GetHeader(BigEndianReader& packet, LsaHeader& header)
{
    packet.Get(3); // age, options
    const auto kind = packet.Get(1);
    const auto id = packet.Get(4);
    header.router = packet.Get(4);
    header.sequence = static_cast<std::int32_t>(packet.Get(4));
    header.checksum = static_cast<std::uint16_t>(packet.Get(2));
    header.length = static_cast<std::uint16_t>(packet.Get(2));
    return packet.Good() && kind == ROUTER_LSA && id == header.router;
}

/// The two sums of Fletcher's checksum (RFC 1008, 7), of an LSA without its age.
std::array<unsigned, 2> Sums(Bytes bytes)
{
    unsigned low = 0;
    unsigned high = 0;
    for (const auto byte : bytes)
    {
        low = (low + byte) % 255;
        high = (high + low) % 255;
    }
    return {low, high};
}

/// RFC 1008, 7.2.1: the two bytes at `at`, which are 0 in `bytes`, that make both sums 0.
std::uint16_t Fletcher(Bytes bytes, std::size_t at)
{
    const auto [low, high] = Sums(bytes);
    const auto behind = static_cast<int>(bytes.size() - at - 1);
    int first = (behind * static_cast<int>(low) - static_cast<int>(high)) % 255;
    first += first <= 0 ? 255 : 0;
    int second = 510 - static_cast<int>(low) - first;
    second -= second > 255 ? 255 : 0;
    return static_cast<std::uint16_t>(first << 8 | second);
}

std::optional<Lsa> ReadLsa(Bytes bytes)
{
    Lsa lsa{.header = {}, .links = {}, .bytes = {bytes.begin(), bytes.end()}};
    BigEndianReader reader(bytes);
    if (!GetHeader(reader, lsa.header) || Sums(bytes.subspan(AGE)) != std::array{0U, 0U})
    {
        return std::nullopt;
    }
    reader.Get(2);
    for (auto links = reader.Get(2); links > 0 && reader.Good(); --links)
    {
        Link link{.id = reader.Get(4), .data = reader.Get(4), .kind = static_cast<LinkKind>(reader.Get(1)), .metric = 0};
        const auto services = reader.Get(1);
        link.metric = static_cast<std::uint16_t>(reader.Get(2));
        reader.Take(services * std::size_t{4});
        lsa.links.push_back(link);
    }
    return reader.Good() ? std::optional(lsa) : std::nullopt;
}

} // namespace

bool IsNewer(const LsaHeader& left, const LsaHeader& right)
{
    return left.sequence != right.sequence ? left.sequence > right.sequence : left.checksum > right.checksum;
}

Lsa MakeLsa(Id router, std::int32_t sequence, std::vector<Link> links)
{
    LsaHeader header{router, sequence, 0, static_cast<std::uint16_t>(LSA_HEADER + 4 + links.size() * LINK)};
    BigEndianWriter written;
    PutHeader(written, header);
    written.Put(0, 2); // neither a border router nor the end of a virtual link
    written.Put(links.size(), 2);
    for (const auto& link : links)
    {
        written.Put(link.id, 4);
        written.Put(link.data, 4);
        written.Put(static_cast<unsigned>(link.kind), 1);
        written.Put(0, 1);
        written.Put(link.metric, 2);
    }
    header.checksum = Fletcher(Bytes(written.Written()).subspan(AGE), LSA_CHECKSUM_AT - AGE);
    written.Set16(LSA_CHECKSUM_AT, header.checksum);
    return {header, std::move(links), written.Written()};
}

std::vector<std::uint8_t> Write(Id router, const Hello& hello)
{
    auto packet = Begin(Kind::Hello, router);
    packet.Put(hello.mask, 4);
    packet.Put(hello.interval, 2);
    packet.Put(EXTERNAL, 1);
    packet.Put(PRIORITY, 1);
    packet.Put(hello.dead, 4);
    packet.Put(0, 8); // no designated router
    for (const auto neighbour : hello.neighbours)
    {
        packet.Put(neighbour, 4);
    }
    return End(packet);
}

std::vector<std::uint8_t> Write(Id router, const Description& description, std::uint16_t mtu)
{
    auto packet = Begin(Kind::Description, router);
    packet.Put(mtu, 2);
    packet.Put(EXTERNAL, 1);
    packet.Put((description.init ? INIT : 0) | (description.more ? MORE : 0) | (description.master ? MASTER : 0), 1);
    packet.Put(description.sequence, 4);
    for (const auto& header : description.headers)
    {
        PutHeader(packet, header);
    }
    return End(packet);
}

std::vector<std::uint8_t> WriteRequest(Id router, const std::vector<Id>& advertising)
{
    auto packet = Begin(Kind::Request, router);
    for (const auto wanted : advertising)
    {
        packet.Put(ROUTER_LSA, 4);
        packet.Put(wanted, 4);
        packet.Put(wanted, 4);
    }
    return End(packet);
}

std::vector<std::uint8_t> WriteUpdate(Id router, std::vector<const Lsa*>& all, std::size_t room)
{
    auto packet = Begin(Kind::Update, router);
    std::size_t count = 0;
    auto length = HEADER + 4;
    do
    {
        length += all[count++]->bytes.size();
    } while (count < all.size() && length + all[count]->bytes.size() <= room);
    packet.Put(count, 4);
    for (std::size_t number = 0; number < count; ++number)
    {
        packet.Put(all[number]->bytes);
    }
    all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count));
    return End(packet);
}

std::vector<std::uint8_t> WriteAcknowledgement(Id router, const std::vector<LsaHeader>& headers)
{
    auto packet = Begin(Kind::Acknowledgement, router);
    for (const auto& header : headers)
    {
        PutHeader(packet, header);
    }
    return End(packet);
}

std::optional<Message> ReadMessage(Bytes bytes)
{
    BigEndianReader packet(bytes);
    const auto version = packet.Get(1);
    const auto kind = packet.Get(1);
    const auto length = packet.Get(2);
    const auto router = packet.Get(4);
    const auto area = packet.Get(4);
    packet.Get(2);
    const auto authentication = packet.Get(2);
    // RFC 2328, 8.2.
    if (!packet.Good() || version != VERSION || kind < 1 || kind > 5 || length < HEADER || length > bytes.size() || area != 0 ||
        authentication != 0 || router == 0 ||
        InternetChecksum({bytes.first(AUTHENTICATION_AT), bytes.first(length).subspan(HEADER)}) != 0)
    {
        return std::nullopt;
    }
    return Message{static_cast<Kind>(kind), router, bytes.first(length).subspan(HEADER)};
}

std::optional<Hello> ReadHello(Bytes body)
{
    BigEndianReader packet(body);
    Hello hello{.mask = packet.Get(4), .interval = packet.Get(2), .dead = 0, .neighbours = {}};
    packet.Get(2);
    hello.dead = packet.Get(4);
    packet.Take(8);
    while (packet.Left() >= 4)
    {
        hello.neighbours.push_back(packet.Get(4));
    }
    return packet.Good() ? std::optional(hello) : std::nullopt;
}

std::optional<Description> ReadDescription(Bytes body)
{
    BigEndianReader packet(body);
    packet.Get(3);
    const auto flags = packet.Get(1);
    Description description{.init = (flags & INIT) != 0,
                            .more = (flags & MORE) != 0,
                            .master = (flags & MASTER) != 0,
                            .sequence = packet.Get(4),
                            .headers = {}};
    while (packet.Left() >= LSA_HEADER)
    {
        if (LsaHeader header{}; GetHeader(packet, header))
        {
            description.headers.push_back(header);
        }
    }
    return packet.Good() ? std::optional(description) : std::nullopt;
}

std::vector<Id> ReadRequest(Bytes body)
{
    std::vector<Id> wanted;
    for (BigEndianReader packet(body); packet.Left() >= 12;)
    {
        const auto kind = packet.Get(4);
        const auto id = packet.Get(4);
        if (packet.Get(4) == id && kind == ROUTER_LSA)
        {
            wanted.push_back(id);
        }
    }
    return wanted;
}

std::vector<Lsa> ReadUpdate(Bytes body)
{
    std::vector<Lsa> all;
    BigEndianReader packet(body);
    for (auto left = packet.Get(4); left > 0 && packet.Left() >= LSA_HEADER; --left)
    {
        const auto length = BigEndian16(body, body.size() - packet.Left() + LSA_HEADER - 2);
        const auto bytes = packet.Take(length);
        if (length < LSA_HEADER || !packet.Good())
        {
            break;
        }
        if (auto lsa = ReadLsa(bytes))
        {
            all.push_back(std::move(*lsa));
        }
    }
    return all;
}

std::vector<LsaHeader> ReadAcknowledgement(Bytes body)
{
    std::vector<LsaHeader> all;
    for (BigEndianReader packet(body); packet.Left() >= LSA_HEADER;)
    {
        if (LsaHeader header{}; GetHeader(packet, header))
        {
            all.push_back(header);
        }
    }
    return all;
}

} // namespace netboxit::ospf
