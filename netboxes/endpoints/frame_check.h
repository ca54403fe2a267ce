// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../engine/headers.h"

namespace netboxit
{

/// What a host makes of bytes from outside.
enum class Finding : std::uint8_t
{
    Good,
    Malformed,   ///< contradicts its RFC: lengths, versions, checksums
    Unsupported, ///< correct, and of a kind that this host does not take
    OtherHost,   ///< correct, and no concern of this host
    OverLimit,   ///< correct, but a table of the host has no room for what it would have to remember
};

/// A packet as far as its own length says: without the padding of its frame. Empty unless it is good.
struct CheckedPacket
{
    Finding finding;
    Bytes packet;
};

/// Looks at what ns-3 takes for granted before ns-3 sees it: its parsers end the process when a length is wrong. Header of
/// the network layer only: a router does not look further. `payload` is what follows the EtherType.
CheckedPacket CheckPacket(std::uint16_t etherType, Bytes payload);

/// Whether a TCP header can be read: data offset (RFC 9293, 3.1) and the lengths of its options. `segment` has at least the
/// first 60 bytes of it, or all. The checksum is ns-3's to look at.
Finding CheckTcp(Bytes segment);
/// Whether the length in a UDP header is that of the datagram (RFC 768).
Finding CheckUdp(Bytes header, std::size_t length);
/// An ICMP echo request with a correct checksum (RFC 792). Errors are read by nobody here, so they are unsupported.
Finding CheckIcmp(Bytes message);
/// An echo request, or a neighbour solicitation or advertisement that RFC 4861, 7.1 permits.
Finding CheckIcmpv6(Bytes message, Bytes source, Bytes destination, std::uint8_t hopLimit);

/// The link-layer address option of a neighbour discovery message; empty without.
Bytes LinkLayerAddressOption(Bytes message);

/// The Internet checksum (RFC 1071) of all parts behind one another, each of an even length but the last.
std::uint16_t InternetChecksum(std::initializer_list<Bytes> parts);

} // namespace netboxit
