// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "air_frame.h"

#include "headers.h"

#include <array>
#include <cstddef>
#include <optional>
#include <span>

namespace netboxit::multiservice
{

/// Which fields follow the first byte of a frame (spec 1.6.1, F6.2). That byte has the service in its high nibble.
enum class HeaderFormat : std::uint8_t
{
    Bare,     ///< none: the low nibble is 0
    Arq,      ///< type in the low nibble; sequence, acknowledgement
    Sequence, ///< type in the low nibble; sequence
    Block,    ///< the block in the upper three bits of the low nibble, 1 for parity in the lowest; sequence in the block
};

inline constexpr std::size_t LONGEST_HEADER = 5;

/// Bytes of the headers of a format, with sequence numbers of so many bits.
std::uint8_t HeaderBytes(HeaderFormat format, unsigned sequenceBits);

/// Writes a frame's header and returns its length.
std::size_t EncodeHeader(const AirFrame& frame, HeaderFormat format, unsigned sequenceBits, std::span<std::uint8_t, LONGEST_HEADER> header);

/// The service that a frame is of; none of a frame without a byte.
std::optional<ServiceId> ServiceOf(Bytes frame);

/// The frame whose header this is, without its packet, which follows `headerBytes`. Nothing where the bytes are too few, or the type is none of the format's.
std::optional<AirFrame> DecodeHeader(Bytes frame, HeaderFormat format, unsigned sequenceBits);

} // namespace netboxit::multiservice
