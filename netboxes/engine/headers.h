// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace netboxit
{

using Bytes = std::span<const std::uint8_t>;
using MacAddress = std::array<std::uint8_t, 6>;

inline constexpr std::size_t ETHERNET_HEADER = 14;
inline constexpr std::size_t VLAN_TAG = 4;

namespace ether_type
{
inline constexpr std::uint16_t IPV4 = 0x0800;
inline constexpr std::uint16_t ARP = 0x0806;
inline constexpr std::uint16_t VLAN = 0x8100;         ///< IEEE 802.1Q customer tag
inline constexpr std::uint16_t SERVICE_VLAN = 0x88a8; ///< IEEE 802.1Q service tag
inline constexpr std::uint16_t IPV6 = 0x86dd;
inline constexpr std::uint16_t MAC_CONTROL = 0x8808; ///< IEEE 802.3 clause 31: PAUSE
inline constexpr std::uint16_t EXPERIMENT = 0x88b5;  ///< IEEE 802-2014, 9.2.3: local experimental EtherType 1; telemetry has it
} // namespace ether_type

/// What an IP packet is a part of.
enum class Part : std::uint8_t
{
    Whole, ///< also one in an IPv6 fragment header of its own (an atomic fragment, RFC 6946)
    FirstFragment,
    LaterFragment,
};

/// What the headers of an IP packet say, as far as they are whole and consistent.
struct IpHeaders
{
    std::uint8_t version{};
    /// Protocol of the transport header, behind IPv6's extension headers; nothing when they are cut short or
    /// encrypted.
    std::optional<std::uint8_t> protocol;
    std::uint16_t sourcePort{};
    std::uint16_t destinationPort{};
    /// False for protocols without ports, for all but the first fragment, and for headers cut short.
    bool hasPorts{};
    Part part{};
    std::uint32_t identification{}; ///< of the packet that it is a fragment of: 16 bits with IPv4
    Bytes source;      ///< 4 or 16 bytes
    Bytes destination; ///< 4 or 16 bytes
    Bytes header;      ///< the fixed header; for IPv4 with its options
    Bytes
        payload; ///< what follows that header, to the end of the packet (Ethernet's padding is no part of it)
    Bytes transport; ///< what follows IPv6's extension headers, too; empty of later fragments, and where `protocol` is nothing
    bool isAuthenticated{}; ///< IPv6: an authentication header (RFC 4302) covers it

    /// The DiffServ code point (RFC 2474) that the header has now: stages may have changed it.
    std::uint8_t Dscp() const
    {
        return static_cast<std::uint8_t>(version == 4 ? header[1] >> 2 : (header[0] & 0x0f) << 2 | header[1] >> 6);
    }
};

/// What can be read in an Ethernet frame (without FCS) of at least ETHERNET_HEADER bytes. Views into the
/// frame.
struct Headers
{
    MacAddress destination{};
    MacAddress source{};
    std::uint16_t outerType{}; ///< the tag's type when there is one
    std::uint16_t etherType{}; ///< behind all VLAN tags
    Bytes afterType;           ///< what follows `etherType`, padding included
    std::uint32_t length{};    ///< layer-3 length in bytes, as in Frame::length
    std::optional<IpHeaders> ip;
};

/// Never reads outside `frame`, whatever its bytes are.
Headers ReadHeaders(Bytes frame);

inline std::uint16_t BigEndian16(Bytes bytes, std::size_t at)
{
    return static_cast<std::uint16_t>(bytes[at] << 8 | bytes[at + 1]);
}

} // namespace netboxit
