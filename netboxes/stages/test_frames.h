// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "headers.h"

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace netboxit::stages::testing
{

using Frame = std::vector<std::uint8_t>;

/// A TCP segment in an Ethernet frame. Addresses are numbers of 32 bits; IPv6's are fd00::<number>.
struct SegmentFrame
{
    int version{4};
    std::uint32_t source{0x0a000001};
    std::uint32_t destination{0x0a000002};
    std::uint16_t sourcePort{40000};
    std::uint16_t destinationPort{80};
    std::uint32_t sequence{};
    std::uint32_t acknowledgement{};
    std::string_view flags{"A"}; ///< letters of SYN, FIN, RST, ACK
    std::uint16_t window{};
    std::vector<std::uint8_t> options{}; ///< padded with zeros to words
    std::size_t payload{};
    bool hasExtension{};      ///< IPv6: behind an extension header of 8 bytes
    std::uint8_t filling{'x'}; ///< of the payload, ascending from here
};

inline void Append16(Frame& bytes, std::uint32_t value)
{
    bytes.push_back(static_cast<std::uint8_t>(value >> 8));
    bytes.push_back(static_cast<std::uint8_t>(value));
}

inline void Append32(Frame& bytes, std::uint32_t value)
{
    Append16(bytes, value >> 16);
    Append16(bytes, value & 0xffff);
}

/// Sum of 16-bit words with end-around carry (RFC 1071), an odd last byte padded with zero.
inline std::uint32_t OnesSum(Bytes bytes, std::uint32_t sum = 0)
{
    for (std::size_t at = 0; at < bytes.size(); ++at)
    {
        sum += at % 2 == 0 ? static_cast<std::uint32_t>(bytes[at]) << 8 : bytes[at];
        sum = (sum & 0xffff) + (sum >> 16);
    }
    return sum;
}

inline std::size_t TransportAt(const Frame& frame)
{
    const std::size_t ip = ETHERNET_HEADER;
    return frame[ip] >> 4 == 4 ? ip + (frame[ip] & 0x0fU) * 4 : ip + 40 + (frame[ip + 6] == 6 ? 0 : 8);
}

/// Sum over the pseudo header (RFC 9293, section 3.1; RFC 8200, section 8.1) and the segment: 0xffff where its checksum is right.
inline std::uint32_t TcpSum(const Frame& frame)
{
    const Bytes bytes(frame);
    const auto transport = bytes.subspan(TransportAt(frame));
    const bool isIpv4 = frame[ETHERNET_HEADER] >> 4 == 4;
    const auto addresses = bytes.subspan(ETHERNET_HEADER + (isIpv4 ? 12 : 8), isIpv4 ? 8 : 32);
    return OnesSum(transport, OnesSum(addresses, static_cast<std::uint32_t>(transport.size()) + 6));
}

inline void AppendIp(Frame& frame, const SegmentFrame& of, std::size_t length)
{
    if (of.version == 4)
    {
        Frame ip{0x45, 0};
        Append16(ip, static_cast<std::uint32_t>(20 + length));
        ip.insert(ip.end(), {0, 1, 0x40, 0, 64, 6, 0, 0});
        Append32(ip, of.source);
        Append32(ip, of.destination);
        const auto checksum = ~OnesSum(ip);
        ip[10] = static_cast<std::uint8_t>(checksum >> 8);
        ip[11] = static_cast<std::uint8_t>(checksum);
        frame.insert(frame.end(), ip.begin(), ip.end());
        return;
    }
    frame.insert(frame.end(), {0x60, 0, 0, 0});
    Append16(frame, static_cast<std::uint32_t>(length + (of.hasExtension ? 8 : 0)));
    frame.insert(frame.end(), {static_cast<std::uint8_t>(of.hasExtension ? 60 : 6), 64});
    for (const auto address : {of.source, of.destination})
    {
        frame.insert(frame.end(), {0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
        Append32(frame, address);
    }
    if (of.hasExtension)
    {
        frame.insert(frame.end(), {6, 0, 1, 4, 0, 0, 0, 0}); // destination options: PadN
    }
}

inline Frame Build(const SegmentFrame& of)
{
    auto options = of.options;
    options.resize((options.size() + 3) / 4 * 4);
    Frame frame(12, 2);
    Append16(frame, of.version == 4 ? ether_type::IPV4 : ether_type::IPV6);
    AppendIp(frame, of, 20 + options.size() + of.payload);
    const auto tcp = frame.size();
    Append16(frame, of.sourcePort);
    Append16(frame, of.destinationPort);
    Append32(frame, of.sequence);
    Append32(frame, of.acknowledgement);
    std::uint8_t flags = 0;
    for (const auto& [letter, bit] : {std::pair{'F', 1}, {'S', 2}, {'R', 4}, {'A', 16}})
    {
        flags |= static_cast<std::uint8_t>(of.flags.find(letter) != std::string_view::npos ? bit : 0);
    }
    frame.insert(frame.end(), {static_cast<std::uint8_t>((5 + options.size() / 4) << 4), flags});
    Append16(frame, of.window);
    Append32(frame, 0); // checksum, urgent pointer
    frame.insert(frame.end(), options.begin(), options.end());
    for (std::size_t at = 0; at < of.payload; ++at)
    {
        frame.push_back(static_cast<std::uint8_t>(of.filling + at));
    }
    const auto checksum = ~TcpSum(frame);
    frame[tcp + 16] = static_cast<std::uint8_t>(checksum >> 8);
    frame[tcp + 17] = static_cast<std::uint8_t>(checksum);
    return frame;
}

/// A UDP packet of so many bytes from its IP header on, at least 40 with IPv4 and 60 with IPv6. Its checksums are wrong: stages do not look.
inline Frame BuildUdp(std::uint32_t source, std::size_t bytes, int version = 4)
{
    const std::size_t headers = version == 4 ? 40 : 60;
    auto frame = Build({.version = version, .source = source, .payload = bytes - headers});
    frame[ETHERNET_HEADER + (version == 4 ? 9 : 6)] = 17;
    return frame;
}

/// The last 32 bits of an IP packet's source address. Checksums are wrong afterwards.
inline void WriteSource(Frame& frame, std::uint32_t source)
{
    const auto at = ETHERNET_HEADER + (frame[ETHERNET_HEADER] >> 4 == 4 ? 12U : 20U);
    for (std::size_t byte = 0; byte < 4; ++byte)
    {
        frame[at + byte] = static_cast<std::uint8_t>(source >> (24 - 8 * byte));
    }
}

} // namespace netboxit::stages::testing
