// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "headers.h"

namespace netboxit
{

/// The ECN field of an IP packet (RFC 3168, section 5; RFC 8311).
enum class Ecn : std::uint8_t
{
    NotEct = 0, ///< its transport is not capable of ECN
    Ect1 = 1,   ///< capable; an L4S packet (RFC 9331)
    Ect0 = 2,   ///< capable
    Ce = 3,     ///< it has experienced congestion
};

/// That of the packet in an Ethernet frame, also behind VLAN tags; NotEct of what is no whole IP header.
Ecn EcnOf(Bytes frame);

/// Sets Congestion Experienced in the packet of an Ethernet frame, if its transport is capable of ECN: false where it is not, and then
/// nothing changes. IPv4's header checksum is updated by the difference (RFC 1624): one that was wrong stays wrong.
bool MarkCongestionExperienced(std::span<std::uint8_t> frame);

} // namespace netboxit
