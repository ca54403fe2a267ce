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

/// Which fields follow the first byte of a frame (section 4.2, F6.2). That byte has the service in its high nibble.
enum class HeaderFields : std::uint8_t
{
    Bare,     ///< none: the low nibble is 0
    Arq,      ///< type in the low nibble; sequence, acknowledgement
    Sequence, ///< type in the low nibble; sequence
    Block,    ///< the block in the upper three bits of the low nibble, 1 for parity in the lowest; sequence in the block
};

/// The headers of a service's frames.
struct HeaderFormat
{
    HeaderFields fields{};
    unsigned sequenceBits{8};

    std::uint8_t Bytes() const;
};

inline constexpr std::size_t LONGEST_HEADER = 5;

/// Writes a frame's header and returns its length.
std::size_t EncodeHeader(const AirFrame& frame, const HeaderFormat& format, std::span<std::uint8_t, LONGEST_HEADER> header);

/// The service that a frame is of; none of a frame without a byte.
std::optional<ServiceId> ServiceOf(Bytes frame);

/// The frame whose header this is, without its packet, which follows `headerBytes`. Nothing where the bytes are too few, or the
/// type is none of the format's.
std::optional<AirFrame> DecodeHeader(Bytes frame, const HeaderFormat& format);

} // namespace netboxit::multiservice
