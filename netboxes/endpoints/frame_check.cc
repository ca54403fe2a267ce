// SPDX-License-Identifier: GPL-2.0-or-later
#include "frame_check.h"

#include <algorithm>

namespace netboxit
{

namespace
{

// RFC 826.
constexpr std::size_t ARP_LENGTH = 28;
constexpr std::array<std::uint8_t, 6> ARP_OF_IPV4_ON_ETHERNET{0, 1, 0x08, 0x00, 6, 4};
constexpr std::uint16_t ARP_REPLY = 2;

// RFC 791.
constexpr std::size_t IPV4_HEADER = 20;
constexpr std::uint16_t MORE_FRAGMENTS = 0x2000;
constexpr std::uint16_t FRAGMENT_OFFSET = 0x1fff;
constexpr std::size_t LONGEST_PACKET = 65535;

// RFC 8200.
constexpr std::size_t IPV6_HEADER = 40;
constexpr std::uint8_t HOP_BY_HOP = 0;
constexpr std::uint8_t ICMPV6 = 58;

// RFC 9293, 3.1 and 3.2.
constexpr std::size_t TCP_HEADER = 20;
constexpr std::uint8_t END_OF_OPTIONS = 0;
constexpr std::uint8_t NO_OPERATION = 1;
constexpr std::uint8_t SYN = 0x02;
constexpr std::uint8_t RST = 0x04;
constexpr std::uint8_t ACK = 0x10;

constexpr std::size_t UDP_HEADER = 8;
constexpr std::size_t ICMP_HEADER = 8;
constexpr std::uint8_t ICMP_ECHO = 8;

// RFC 4443 and RFC 4861.
constexpr std::uint8_t ICMPV6_ECHO = 128;
constexpr std::uint8_t NEIGHBOUR_SOLICITATION = 135;
constexpr std::uint8_t NEIGHBOUR_ADVERTISEMENT = 136;
constexpr std::size_t NEIGHBOUR_MESSAGE = 24;
constexpr std::size_t OPTION_UNIT = 8;
constexpr std::uint8_t SOURCE_LINK_LAYER_ADDRESS = 1;
constexpr std::uint8_t TARGET_LINK_LAYER_ADDRESS = 2;

CheckedPacket Refused(Finding finding)
{
    return {finding, {}};
}

CheckedPacket CheckArp(Bytes payload)
{
    if (payload.size() < ARP_LENGTH)
    {
        return Refused(Finding::Malformed);
    }
    if (!std::ranges::equal(payload.first(ARP_OF_IPV4_ON_ETHERNET.size()), ARP_OF_IPV4_ON_ETHERNET))
    {
        return Refused(Finding::Unsupported);
    }
    const auto operation = BigEndian16(payload, 6);
    const bool fromGroup = (payload[8] & 1) != 0;
    return operation == 0 || operation > ARP_REPLY || fromGroup ? Refused(Finding::Malformed)
                                                                : CheckedPacket{Finding::Good, payload.first(ARP_LENGTH)};
}

/// RFC 1122, 3.2.1.3: what no packet on a wire comes from.
bool IsIpv4Source(Bytes address)
{
    return address[0] != 0 && address[0] != 127 && address[0] < 224;
}

CheckedPacket CheckIpv4(Bytes payload)
{
    if (payload.size() < IPV4_HEADER || payload[0] >> 4 != 4)
    {
        return Refused(Finding::Malformed);
    }
    const std::size_t header = (payload[0] & 0x0fu) * 4;
    const std::size_t total = BigEndian16(payload, 2);
    if (header < IPV4_HEADER || total < header || total > payload.size() ||
        InternetChecksum({payload.first(header)}) != 0)
    {
        return Refused(Finding::Malformed);
    }
    const auto place = BigEndian16(payload, 6);
    const std::size_t offset = (place & FRAGMENT_OFFSET) * 8u;
    const auto length = total - header;
    const bool more = (place & MORE_FRAGMENTS) != 0;
    if ((more && (length == 0 || length % 8 != 0)) || offset + total > LONGEST_PACKET || (offset > 0 && length == 0))
    {
        return Refused(Finding::Malformed);
    }
    if (!IsIpv4Source(payload.subspan(12, 4)) || payload[16] == 127 || payload[16] == 0)
    {
        return Refused(Finding::Malformed);
    }
    // ns-3 writes no options, so it could not forward such a packet.
    return header > IPV4_HEADER ? Refused(Finding::Unsupported) : CheckedPacket{Finding::Good, payload.first(total)};
}

bool IsUnspecified(Bytes address)
{
    return std::ranges::all_of(address, [](auto byte) { return byte == 0; });
}

bool IsLoopback(Bytes address)
{
    return address.back() == 1 && IsUnspecified(address.first(15));
}

CheckedPacket CheckIpv6(Bytes payload)
{
    if (payload.size() < IPV6_HEADER || payload[0] >> 4 != 6)
    {
        return Refused(Finding::Malformed);
    }
    const std::size_t total = IPV6_HEADER + BigEndian16(payload, 4);
    const auto source = payload.subspan(8, 16);
    const auto destination = payload.subspan(24, 16);
    if (total > payload.size() || source[0] == 0xff || IsLoopback(source) || IsLoopback(destination) ||
        IsUnspecified(destination) || (IsUnspecified(source) && payload[6] != ICMPV6))
    {
        return Refused(Finding::Malformed);
    }
    return payload[6] == HOP_BY_HOP ? Refused(Finding::Unsupported) : CheckedPacket{Finding::Good, payload.first(total)};
}

/// The lengths that RFC 9293, RFC 2018 and RFC 7323 give the options that ns-3 reads; 0: any.
bool IsLengthOfOption(std::uint8_t kind, std::size_t length)
{
    switch (kind)
    {
    case 2: // maximum segment size
        return length == 4;
    case 3: // window scale
        return length == 3;
    case 4: // SACK permitted
        return length == 2;
    case 5: // SACK
        return length > 2 && length % 8 == 2;
    case 8: // timestamps
        return length == 10;
    default:
        return length >= 2;
    }
}

bool AreOptionsReadable(Bytes options)
{
    while (!options.empty() && options[0] != END_OF_OPTIONS)
    {
        if (options[0] == NO_OPERATION)
        {
            options = options.subspan(1);
            continue;
        }
        if (options.size() < 2 || options[1] > options.size() || !IsLengthOfOption(options[0], options[1]))
        {
            return false;
        }
        options = options.subspan(options[1]);
    }
    return true;
}

} // namespace

CheckedPacket CheckPacket(std::uint16_t etherType, Bytes payload)
{
    switch (etherType)
    {
    case ether_type::ARP:
        return CheckArp(payload);
    case ether_type::IPV4:
        return CheckIpv4(payload);
    case ether_type::IPV6:
        return CheckIpv6(payload);
    default:
        return Refused(Finding::Unsupported);
    }
}

Finding CheckTcp(Bytes segment)
{
    if (segment.size() < TCP_HEADER)
    {
        return Finding::Malformed;
    }
    const std::size_t header = (segment[12] >> 4) * 4u;
    if (header < TCP_HEADER || header > segment.size() ||
        !AreOptionsReadable(segment.subspan(TCP_HEADER, header - TCP_HEADER)))
    {
        return Finding::Malformed;
    }
    // RFC 9293, 3.10.7: a segment without any of them is dropped in every state; ns-3 would open a connection by it.
    return (segment[13] & (SYN | RST | ACK)) == 0 ? Finding::Malformed : Finding::Good;
}

Finding CheckUdp(Bytes header, std::size_t length)
{
    return header.size() < UDP_HEADER || BigEndian16(header, 4) != length ? Finding::Malformed : Finding::Good;
}

Finding CheckIcmp(Bytes message)
{
    if (message.size() < ICMP_HEADER || InternetChecksum({message}) != 0)
    {
        return Finding::Malformed;
    }
    return message[0] == ICMP_ECHO ? Finding::Good : Finding::Unsupported;
}

Finding CheckIcmpv6(Bytes message, Bytes source, Bytes destination, std::uint8_t hopLimit)
{
    const auto size = static_cast<std::uint32_t>(message.size());
    const std::array<std::uint8_t, 8> lengthAndProtocol{0,
                                                        0,
                                                        static_cast<std::uint8_t>(size >> 8),
                                                        static_cast<std::uint8_t>(size),
                                                        0,
                                                        0,
                                                        0,
                                                        ICMPV6};
    if (message.size() < ICMP_HEADER || InternetChecksum({source, destination, lengthAndProtocol, message}) != 0)
    {
        return Finding::Malformed;
    }
    if (message[0] == ICMPV6_ECHO)
    {
        return IsUnspecified(source) ? Finding::Malformed : Finding::Good;
    }
    if (message[0] != NEIGHBOUR_SOLICITATION && message[0] != NEIGHBOUR_ADVERTISEMENT)
    {
        return Finding::Unsupported;
    }
    if (message.size() < NEIGHBOUR_MESSAGE || hopLimit != 255 || message[1] != 0 || message[8] == 0xff)
    {
        return Finding::Malformed;
    }
    for (auto options = message.subspan(NEIGHBOUR_MESSAGE); !options.empty();)
    {
        const std::size_t length = options.size() < 2 ? 0 : options[1] * OPTION_UNIT;
        if (length == 0 || length > options.size())
        {
            return Finding::Malformed;
        }
        options = options.subspan(length);
    }
    return Finding::Good;
}

Bytes LinkLayerAddressOption(Bytes message)
{
    const auto wanted = message[0] == NEIGHBOUR_SOLICITATION ? SOURCE_LINK_LAYER_ADDRESS : TARGET_LINK_LAYER_ADDRESS;
    for (auto options = message.subspan(NEIGHBOUR_MESSAGE); !options.empty();
         options = options.subspan(options[1] * OPTION_UNIT))
    {
        if (options[0] == wanted && options[1] == 1)
        {
            return options.first(OPTION_UNIT);
        }
    }
    return {};
}

std::uint16_t InternetChecksum(std::initializer_list<Bytes> parts)
{
    std::uint64_t sum = 0;
    for (const auto part : parts)
    {
        for (std::size_t at = 0; at + 1 < part.size(); at += 2)
        {
            sum += BigEndian16(part, at);
        }
        sum += part.size() % 2 == 1 ? part.back() << 8 : 0;
    }
    while (sum > 0xffff)
    {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    return static_cast<std::uint16_t>(~sum);
}

} // namespace netboxit
