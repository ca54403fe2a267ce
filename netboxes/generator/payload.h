// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../engine/headers.h"

#include <bit>
#include <cstring>

namespace netboxit
{

/// What a generator writes at the start of a UDP payload and a sink reads there: 18 bytes, big-endian, which just fit the smallest
/// Ethernet frame.
namespace payload
{

inline constexpr std::uint16_t MAGIC = 0x4e42; ///< "NB"
inline constexpr std::size_t SEQUENCE_AT = 2;
inline constexpr std::size_t STAMP_AT = 10;
inline constexpr std::size_t LENGTH = 18;

static_assert(std::endian::native == std::endian::little, "numbers are swapped to the network's order");

/// A number of 64 bits in the network's order.
inline void Write64(std::uint8_t* at, std::uint64_t number)
{
    const auto swapped = __builtin_bswap64(number);
    std::memcpy(at, &swapped, sizeof(swapped));
}

inline std::uint64_t Read64(const std::uint8_t* at)
{
    std::uint64_t swapped;
    std::memcpy(&swapped, at, sizeof(swapped));
    return __builtin_bswap64(swapped);
}

inline void Write16(std::uint8_t* at, std::uint16_t number)
{
    at[0] = static_cast<std::uint8_t>(number >> 8);
    at[1] = static_cast<std::uint8_t>(number);
}

} // namespace payload

} // namespace netboxit
