// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace netboxit::middleware
{

/// Of SipHash: the two halves k0 and k1 of the 128 bits.
using Key = std::array<std::uint64_t, 2>;

/// SipHash-2-4: a message authentication code of 64 bits for short messages (J.-P. Aumasson, D. J. Bernstein, "SipHash: a fast short-input
/// PRF", INDOCRYPT 2012). Who does not know the key cannot make the code of a message.
std::uint64_t SipHash(const Key& key, std::span<const std::uint8_t> bytes);

} // namespace netboxit::middleware
