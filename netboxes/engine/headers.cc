// SPDX-License-Identifier: GPL-2.0-or-later
#include "headers.h"

#include <algorithm>

namespace netboxit
{

namespace
{

// IANA protocol numbers.
constexpr std::uint8_t HOP_BY_HOP = 0;
constexpr std::uint8_t TCP = 6;
constexpr std::uint8_t UDP = 17;
constexpr std::uint8_t DCCP = 33;
constexpr std::uint8_t ROUTING = 43;
constexpr std::uint8_t FRAGMENT = 44;
constexpr std::uint8_t ENCRYPTED = 50;
constexpr std::uint8_t AUTHENTICATION = 51;
constexpr std::uint8_t DESTINATION_OPTIONS = 60;
constexpr std::uint8_t SCTP = 132;
constexpr std::uint8_t MOBILITY = 135;
constexpr std::uint8_t UDP_LITE = 136;

/// Flags and fragment offset: RFC 791, 3.1; RFC 8200, 4.5.
constexpr std::uint16_t IPV4_MORE_FRAGMENTS = 0x2000;
constexpr std::uint16_t IPV4_OFFSET = 0x1fff;
constexpr std::uint16_t IPV6_MORE_FRAGMENTS = 0x0001;
constexpr std::uint16_t IPV6_OFFSET = 0xfff8;

// Headers are written where they stay, and not read again here. To copy a span that was just written as pointer and size, the processor waits
// for all its stores before. Where these missed the cache, as those of a table of flows do, that was a third of what a packet cost.

void ReadTransport(IpHeaders& ip, std::uint8_t protocol, Bytes transport)
{
    ip.transport = transport;
    constexpr std::array withPorts{TCP, UDP, DCCP, SCTP, UDP_LITE};
    if (transport.size() < 4 || std::ranges::find(withPorts, protocol) == withPorts.end())
    {
        return;
    }
    ip.sourcePort = BigEndian16(transport, 0);
    ip.destinationPort = BigEndian16(transport, 2);
    ip.hasPorts = true;
}

void ReadIpv4(Bytes packet, std::optional<IpHeaders>& headers)
{
    if (packet.size() < 20 || packet[0] >> 4 != 4)
    {
        return;
    }
    const std::size_t headerLength = (packet[0] & 0x0fu) * 4;
    const std::size_t totalLength = BigEndian16(packet, 2);
    if (headerLength < 20 || totalLength < headerLength || packet.size() < headerLength)
    {
        return;
    }
    const auto whole = packet.first(std::min(totalLength, packet.size()));
    auto& ip = headers.emplace();
    ip.version = 4;
    ip.protocol = packet[9];
    ip.source = packet.subspan(12, 4);
    ip.destination = packet.subspan(16, 4);
    ip.header = whole.first(headerLength);
    ip.payload = whole.subspan(headerLength);
    const auto place = BigEndian16(packet, 6);
    if ((place & (IPV4_MORE_FRAGMENTS | IPV4_OFFSET)) != 0)
    {
        ip.part = (place & IPV4_OFFSET) == 0 ? Part::FirstFragment : Part::LaterFragment;
        ip.identification = BigEndian16(packet, 4);
    }
    if (ip.part != Part::LaterFragment)
    {
        ReadTransport(ip, packet[9], whole.subspan(headerLength));
    }
}

/// Whether it is a later fragment. Of headers behind one another the first one counts: a host reassembles from outside.
bool ReadFragmentOfIpv6(IpHeaders& ip, Bytes header)
{
    const auto place = BigEndian16(header, 2);
    const bool isFirst = (place & IPV6_OFFSET) == 0;
    if (ip.part == Part::Whole && (place & (IPV6_MORE_FRAGMENTS | IPV6_OFFSET)) != 0)
    {
        ip.part = isFirst ? Part::FirstFragment : Part::LaterFragment;
        ip.identification = std::uint32_t{BigEndian16(header, 4)} << 16 | BigEndian16(header, 6);
    }
    return !isFirst;
}

/// Walks the extension headers (RFC 8200, section 4) in the payload to the transport header.
void ReadTransportOfIpv6(IpHeaders& ip, Bytes rest, std::uint8_t next)
{
    while (true)
    {
        std::size_t length = 0;
        switch (next)
        {
        case HOP_BY_HOP:
        case ROUTING:
        case DESTINATION_OPTIONS:
        case MOBILITY:
            length = rest.size() < 2 ? 0 : (rest[1] + 1u) * 8;
            break;
        case AUTHENTICATION: // RFC 4302, section 2.2: in units of 4 bytes, minus 2
            length = rest.size() < 2 ? 0 : (rest[1] + 2u) * 4;
            ip.isAuthenticated = true;
            break;
        case FRAGMENT:
            length = 8;
            break;
        case ENCRYPTED:
            return;
        default:
            ip.protocol = next;
            ReadTransport(ip, next, rest);
            return;
        }
        if (length == 0 || rest.size() < length)
        {
            return;
        }
        const bool laterFragment = next == FRAGMENT && ReadFragmentOfIpv6(ip, rest);
        next = rest[0];
        if (laterFragment)
        {
            // What follows is data behind some earlier fragment's headers.
            ip.protocol = next;
            return;
        }
        rest = rest.subspan(length);
    }
}

void ReadIpv6(Bytes packet, std::optional<IpHeaders>& headers)
{
    constexpr std::size_t HEADER = 40;
    if (packet.size() < HEADER || packet[0] >> 4 != 6)
    {
        return;
    }
    const std::size_t payloadLength = BigEndian16(packet, 4);
    const auto payload = packet.subspan(HEADER, std::min(payloadLength, packet.size() - HEADER));
    auto& ip = headers.emplace();
    ip.version = 6;
    ip.source = packet.subspan(8, 16);
    ip.destination = packet.subspan(24, 16);
    ip.header = packet.first(HEADER);
    ip.payload = payload;
    ReadTransportOfIpv6(ip, payload, packet[6]);
}

/// Layer-3 length of what follows the EtherType, without the padding that brings a frame to Ethernet's
/// minimum.
std::size_t LayerThreeLength(const Headers& headers)
{
    const auto& rest = headers.afterType;
    if (headers.ip)
    {
        return headers.ip->header.size() + headers.ip->payload.size();
    }
    if (headers.etherType == ether_type::ARP && rest.size() >= 8)
    {
        // RFC 826: 8 bytes, then two hardware and two protocol addresses.
        return std::min<std::size_t>(8 + 2 * (rest[4] + std::size_t{rest[5]}), rest.size());
    }
    // IEEE 802.3 clause 3.2.6: up to 1500 the field is a length.
    return headers.etherType <= 1500 ? std::min<std::size_t>(headers.etherType, rest.size()) : rest.size();
}

} // namespace

Headers ReadHeaders(Bytes frame)
{
    Headers headers;
    std::copy_n(frame.begin(), 6, headers.destination.begin());
    std::copy_n(frame.begin() + 6, 6, headers.source.begin());
    std::size_t at = ETHERNET_HEADER;
    headers.outerType = headers.etherType = BigEndian16(frame, 12);
    while ((headers.etherType == ether_type::VLAN || headers.etherType == ether_type::SERVICE_VLAN) &&
           frame.size() >= at + VLAN_TAG)
    {
        headers.etherType = BigEndian16(frame, at + 2);
        at += VLAN_TAG;
    }
    headers.afterType = frame.subspan(at);
    if (headers.etherType == ether_type::IPV4)
    {
        ReadIpv4(frame.subspan(at), headers.ip);
    }
    else if (headers.etherType == ether_type::IPV6)
    {
        ReadIpv6(frame.subspan(at), headers.ip);
    }
    headers.length = static_cast<std::uint32_t>(at - ETHERNET_HEADER + LayerThreeLength(headers));
    return headers;
}

} // namespace netboxit
