// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "headers.h"

namespace netboxit
{

inline void WriteBigEndian16(std::span<std::uint8_t> bytes, std::size_t at, std::uint16_t value)
{
    bytes[at] = static_cast<std::uint8_t>(value >> 8);
    bytes[at + 1] = static_cast<std::uint8_t>(value);
}

/// Writes a 16-bit word of a header at an even place, and updates the Internet checksum at `checksum` by the difference (RFC 1624): one
/// that was wrong stays wrong.
inline void ReplaceWord(std::span<std::uint8_t> header, std::size_t at, std::uint16_t value, std::size_t checksum)
{
    // Equation 3: HC' = ~(~HC + ~m + m').
    std::uint32_t sum = static_cast<std::uint16_t>(~BigEndian16(header, checksum));
    sum += static_cast<std::uint16_t>(~BigEndian16(header, at));
    sum += value;
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    WriteBigEndian16(header, at, value);
    WriteBigEndian16(header, checksum, static_cast<std::uint16_t>(~sum));
}

} // namespace netboxit
