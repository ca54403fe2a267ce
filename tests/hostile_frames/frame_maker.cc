// SPDX-License-Identifier: GPL-2.0-or-later
#include "frame_maker.h"

#include <algorithm>

namespace hostile
{

namespace
{

constexpr std::size_t ETHERNET_HEADER = 14;
constexpr std::size_t SHORTEST_SOUND = 60;
constexpr std::size_t ORDINARY_MTU = 1500;

constexpr std::uint16_t IPV4 = 0x0800, ARP = 0x0806, IPV6 = 0x86dd;
/// VLAN tags; MPLS, PPPoE, MACsec, EAPOL, LLDP, PTP, PAUSE, loopback, reserved and no types at all.
constexpr std::array<std::uint16_t, 3> TAGS{0x8100, 0x88a8, 0x9100};
constexpr std::array<std::uint16_t, 16> TYPES{
    0x8847, 0x8848, 0x8863, 0x8864, 0x88e5, 0x888e, 0x88cc, 0x88f7, 0x8808, 0x9000, 0xffff, 0x0600, 0x05ff, 0x05dc, 0x0001, 0x0000};
constexpr std::array<std::uint8_t, 12> PROTOCOLS{17, 17, 17, 6, 6, 1, 2, 58, 132, 4, 89, 255};
/// Hop-by-hop, routing, fragment, ESP, authentication, destination options, mobility (IANA).
constexpr std::array<std::uint8_t, 7> EXTENSIONS{0, 43, 44, 50, 51, 60, 135};

/// Broadcast, groups of IPv4, IPv6, spanning tree, LLDP and PAUSE, and none at all.
constexpr std::array<MacAddress, 7> SPECIAL{{{0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
                                             {0x01, 0x00, 0x5e, 0x00, 0x00, 0x01},
                                             {0x33, 0x33, 0x00, 0x00, 0x00, 0x01},
                                             {0x01, 0x80, 0xc2, 0x00, 0x00, 0x00},
                                             {0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e},
                                             {0x01, 0x80, 0xc2, 0x00, 0x00, 0x01},
                                             {0x00, 0x00, 0x00, 0x00, 0x00, 0x00}}};
constexpr std::array<Ipv4Address, 6> ODD_ADDRESSES{
    {{0, 0, 0, 0}, {255, 255, 255, 255}, {224, 0, 0, 1}, {127, 0, 0, 1}, {169, 254, 0, 1}, {240, 0, 0, 1}}};

void Write16(std::span<std::uint8_t> at, unsigned value)
{
    at[0] = static_cast<std::uint8_t>(value >> 8);
    at[1] = static_cast<std::uint8_t>(value);
}

/// RFC 1071.
std::uint16_t Checksum(std::span<const std::uint8_t> bytes)
{
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i)
    {
        sum += i % 2 == 0 ? bytes[i] << 8 : bytes[i];
    }
    while (sum >> 16 != 0)
    {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    return static_cast<std::uint16_t>(~sum);
}

} // namespace

FrameMaker::FrameMaker(std::uint64_t seed, std::vector<Host> hosts, std::size_t longest)
    : m_random(seed), m_hosts(std::move(hosts)), m_longest(longest)
{
}

const Frame& FrameMaker::Next()
{
    m_frame.clear();
    PutEthernet();
    if (m_frame.size() < SHORTEST_SOUND && Chance(80))
    {
        m_frame.resize(SHORTEST_SOUND);
    }
    if (Chance(50))
    {
        Spoil();
    }
    m_frame.resize(std::clamp(m_frame.size(), ETHERNET_HEADER, m_longest));
    return m_frame;
}

/// Half of all frames have something wrong in them: single bits and bytes, words that count something, the end, a piece twice.
void FrameMaker::Spoil()
{
    for (auto times = 1 + Number(4); times > 0; --times)
    {
        const auto place = Number(static_cast<std::uint32_t>(m_frame.size()));
        const auto kind = Number(6);
        if (kind == 0)
        {
            m_frame[place] ^= static_cast<std::uint8_t>(1u << Number(8));
        }
        else if (kind == 1)
        {
            m_frame[place] = static_cast<std::uint8_t>(Number(256));
        }
        else if (kind == 2 && place + 2 <= m_frame.size())
        {
            constexpr std::array<std::uint16_t, 6> LIMITS{0, 1, 0x7fff, 0x8000, 0xffff, 0x0100};
            Write16(std::span(m_frame).subspan(place), Of(LIMITS));
        }
        else if (kind == 3)
        {
            // The header stays, mostly: a shorter rest is what a parser walks over the end of.
            m_frame.resize(Chance(80) ? std::max<std::size_t>(place, ETHERNET_HEADER) : ETHERNET_HEADER);
        }
        else if (kind == 4)
        {
            Bytes(Number(64));
        }
        else
        {
            const Frame piece(m_frame.begin() + place, m_frame.end());
            m_frame.insert(m_frame.end(), piece.begin(), piece.end());
        }
    }
}

void FrameMaker::PutEthernet()
{
    const auto destination = Number(100);
    destination < 60 ? Put(Of(m_hosts).mac) : destination < 85 ? Put(Of(SPECIAL)) : Bytes(6);
    // Who sends: a host, also the one that is sent to or the receiver itself, somebody invented, a group.
    const auto source = Number(100);
    source < 70 ? Put(Of(m_hosts).mac) : source < 95 ? Bytes(6) : Put(Of(SPECIAL));
    for (auto tags = Chance(15) ? 1 + Number(3) : 0; tags > 0; --tags)
    {
        Put16(Of(TAGS));
        Put16(Word());
    }
    const auto kind = Number(100);
    if (kind < 60)
    {
        PutIpv4();
    }
    else if (kind < 75)
    {
        PutIpv6();
    }
    else if (kind < 85)
    {
        PutArp();
    }
    else if (kind < 90)
    {
        PutLinkControl();
    }
    else
    {
        Put16(Chance(50) ? Of(TYPES) : Word());
        Bytes(PayloadSize());
    }
}

void FrameMaker::PutArp()
{
    Put16(ARP);
    Put16(Chance(95) ? 1 : Word());
    Put16(Chance(95) ? IPV4 : Word());
    Put16(Chance(95) ? 0x0604 : Word());
    Put16(Chance(90) ? 1 + Number(2) : Word());
    for (int side = 0; side < 2; ++side)
    {
        Put(Chance(80) ? Of(m_hosts).mac : Of(SPECIAL));
        Put(Chance(80) ? Of(m_hosts).address : Of(ODD_ADDRESSES));
    }
}

void FrameMaker::PutIpv4()
{
    Put16(IPV4);
    const auto header = m_frame.size();
    const std::size_t options = Chance(15) ? 4 * (1 + Number(10)) : 0;
    const auto payload = PayloadSize();
    const auto protocol = Of(PROTOCOLS);
    Put16(0x4000u | static_cast<unsigned>(5 + options / 4) << 8 | Number(256));
    Put16(0); // the length, below
    Put16(Word());
    // Whole, don't-fragment, or a fragment: the first, one in the middle, one beyond the end of any packet.
    constexpr std::array<std::uint16_t, 8> FRAGMENTS{0, 0, 0, 0x4000, 0x2000, 0x2001, 0x00b9, 0x1fff};
    Put16(Chance(95) ? Of(FRAGMENTS) : Word());
    Put16((Chance(80) ? 64u : Number(3)) << 8 | protocol);
    Put16(0);
    Put(Chance(90) ? Of(m_hosts).address : Of(ODD_ADDRESSES));
    Put(Chance(90) ? Of(m_hosts).address : Of(ODD_ADDRESSES));
    PutIpv4Options(options);
    PutTransport(protocol, payload);
    Write16(std::span(m_frame).subspan(header + 2), static_cast<unsigned>(m_frame.size() - header));
    Write16(std::span(m_frame).subspan(header + 10), Checksum(std::span(m_frame).subspan(header, 20 + options)));
}

/// End, no operation, record route, time stamp, source routes, router alert (RFC 791, RFC 2113), with lengths that may lie.
void FrameMaker::PutIpv4Options(std::size_t length)
{
    constexpr std::array<std::uint8_t, 8> KINDS{0, 1, 7, 68, 131, 137, 148, 255};
    for (const auto end = m_frame.size() + length; m_frame.size() < end;)
    {
        m_frame.push_back(Of(KINDS));
        if (m_frame.back() > 1 && m_frame.size() < end)
        {
            m_frame.push_back(static_cast<std::uint8_t>(Chance(70) ? end - m_frame.size() + 1 : Number(256)));
        }
    }
}

void FrameMaker::PutIpv6()
{
    Put16(IPV6);
    const auto payload = PayloadSize();
    auto next = Of(PROTOCOLS);
    const auto extensions = Chance(40) ? 1 + Number(6) : 0;
    const auto last = next;
    Put32(0x60000000u | Number(1u << 28));
    const auto length = m_frame.size();
    Put16(0);
    next = extensions > 0 ? Of(EXTENSIONS) : last;
    Put16(next << 8 | (Chance(80) ? 64u : Number(3)));
    for (int side = 0; side < 2; ++side)
    {
        Put16(Chance(70) ? 0xfd99 : Chance(50) ? 0xff02 : 0xfe80);
        Bytes(12);
        Put16(1 + Number(9));
    }
    const auto begin = m_frame.size();
    for (auto left = extensions; left > 0; --left)
    {
        next = left > 1 ? Of(EXTENSIONS) : last;
        const std::uint8_t eighths = Chance(80) ? 0 : static_cast<std::uint8_t>(Number(256));
        Put16(static_cast<unsigned>(next) << 8 | eighths);
        Bytes(6);
    }
    PutTransport(last, payload);
    Write16(std::span(m_frame).subspan(length), static_cast<unsigned>(m_frame.size() - begin));
}

void FrameMaker::PutTransport(std::uint8_t protocol, std::size_t payload)
{
    constexpr std::uint8_t ICMP = 1, TCP = 6, UDP = 17, ICMPV6 = 58;
    constexpr std::array<std::uint8_t, 10> MESSAGES{0, 3, 4, 5, 8, 11, 13, 128, 134, 135};
    if (protocol == UDP)
    {
        Put16(Word());
        Put16(Word());
        Put16(Chance(90) ? static_cast<unsigned>(payload + 8) : Word());
        Put16(0);
    }
    else if (protocol == TCP)
    {
        Put32(Number(0xffffffff));
        Put32(Number(0xffffffff));
        Put32(Number(0xffffffff));
        Put16((Chance(90) ? 0x5000u : Number(16) << 12) | Number(256));
        Put16(Word());
        Put32(0);
    }
    else if (protocol == ICMP || protocol == ICMPV6)
    {
        Put16(static_cast<unsigned>(Of(MESSAGES)) << 8 | (Chance(80) ? 0 : Number(256)));
        Put16(0);
        Put32(Number(0xffffffff));
    }
    Bytes(payload);
}

/// LLC (IEEE 802.2) with a length that may lie: spanning tree, SNAP, anything.
void FrameMaker::PutLinkControl()
{
    const auto payload = std::min(PayloadSize(), ORDINARY_MTU);
    Put16(Chance(80) ? static_cast<unsigned>(payload) : Number(0x600));
    constexpr std::array<std::uint32_t, 4> HEADS{0x42420300, 0xaaaa0300, 0xe0e00300, 0xffff0000};
    Put32(Of(HEADS));
    Bytes(payload < 4 ? 0 : payload - 4);
}

/// Nothing, a little, any ordinary size, and one just below, at and just above an MTU; now and then a giant.
std::size_t FrameMaker::PayloadSize()
{
    const auto kind = Number(100);
    if (kind < 50)
    {
        return Number(64);
    }
    if (kind < 80)
    {
        return Number(ORDINARY_MTU - 40);
    }
    if (kind < 95)
    {
        return ORDINARY_MTU - 48 + Number(56);
    }
    return Number(static_cast<std::uint32_t>(m_longest));
}

std::uint32_t FrameMaker::Number(std::uint32_t below)
{
    // Not a distribution of the library: those may differ from one to the next.
    return static_cast<std::uint32_t>((m_random() >> 32) * below >> 32);
}

bool FrameMaker::Chance(std::uint32_t percent)
{
    return Number(100) < percent;
}

std::uint16_t FrameMaker::Word()
{
    return static_cast<std::uint16_t>(Number(0x10000));
}

void FrameMaker::Bytes(std::size_t count)
{
    const auto end = m_frame.size() + count;
    for (std::uint64_t bits = 0; m_frame.size() < end; bits >>= 8)
    {
        bits = bits == 0 ? m_random() : bits;
        m_frame.push_back(static_cast<std::uint8_t>(bits));
    }
}

void FrameMaker::Put(std::span<const std::uint8_t> bytes)
{
    m_frame.insert(m_frame.end(), bytes.begin(), bytes.end());
}

void FrameMaker::Put16(unsigned value)
{
    m_frame.push_back(static_cast<std::uint8_t>(value >> 8));
    m_frame.push_back(static_cast<std::uint8_t>(value));
}

void FrameMaker::Put32(std::uint32_t value)
{
    Put16(value >> 16);
    Put16(value & 0xffff);
}

} // namespace hostile
