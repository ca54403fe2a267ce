// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>

namespace netboxit::wimax
{

inline constexpr std::uint32_t GENERIC_HEADER = 6; ///< generic MAC header, 6.3.2.1.1
inline constexpr std::uint32_t CRC = 4; ///< CRC-32 at the end of each PDU of a transport connection, 6.3.3.5
inline constexpr std::uint32_t FRAGMENTATION_SUBHEADER =
    2; ///< with the 11-bit FSN that is the default (6.3.2.2.1, 11.13)
/// With the 11-bit FSN, as fragments have it (6.3.2.2.3).
inline constexpr std::uint32_t PACKING_SUBHEADER = 3;
inline constexpr std::uint32_t GRANT_MANAGEMENT_SUBHEADER = 2; ///< a piggyback request, 6.3.2.2.2
inline constexpr std::uint32_t BANDWIDTH_REQUEST_HEADER =
    6;                                             ///< 6.3.2.1.2: a header alone, without payload and CRC
inline constexpr std::uint32_t MAXIMUM_PDU = 2047; ///< the LEN field has 11 bits, 6.3.2.1.1

/// The Ethernet convergence sublayer carries the frame with its header and without its FCS (5.2.4). Payload
/// header suppression is off, so there is no PHSI byte before it (5.2.3).
inline constexpr std::uint32_t ETHERNET_HEADER = 14;

/// An Ethernet frame of the largest usual size, without FCS.
inline constexpr std::uint32_t LARGEST_SDU = ETHERNET_HEADER + 1500;

/// What each PDU with a CRC costs beside its payload.
inline constexpr std::uint32_t PDU_OVERHEAD = GENERIC_HEADER + CRC;

} // namespace netboxit::wimax
