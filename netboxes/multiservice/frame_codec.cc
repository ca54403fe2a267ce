// SPDX-License-Identifier: GPL-2.0-or-later
#include "frame_codec.h"

namespace netboxit::multiservice
{

namespace
{

constexpr std::uint8_t LOW_NIBBLE = 0x0f;
constexpr std::uint8_t BLOCKS_MASK = 0x07;
constexpr std::uint8_t PARITY = 0x01;

std::size_t SequenceBytes(unsigned bits)
{
    return bits > 8 ? 2 : 1;
}

std::size_t Write(std::uint16_t number, std::size_t bytes, std::span<std::uint8_t> to)
{
    if (bytes == 2)
    {
        to[0] = static_cast<std::uint8_t>(number >> 8);
    }
    to[bytes - 1] = static_cast<std::uint8_t>(number);
    return bytes;
}

std::uint16_t Read(Bytes from, std::size_t bytes)
{
    return bytes == 2 ? BigEndian16(from, 0) : from[0];
}

std::uint8_t NibbleOf(const AirFrame& frame, HeaderFormat format)
{
    switch (format)
    {
    case HeaderFormat::Bare:
        return 0;
    case HeaderFormat::Block:
        return static_cast<std::uint8_t>((frame.block & BLOCKS_MASK) << 1 | (frame.type == FrameType::Parity ? PARITY : 0));
    default:
        return static_cast<std::uint8_t>(frame.type);
    }
}

/// False: frames of this format have no such nibble.
bool ReadNibble(AirFrame& frame, HeaderFormat format, std::uint8_t nibble)
{
    switch (format)
    {
    case HeaderFormat::Bare:
        return nibble == 0;
    case HeaderFormat::Block:
        frame.block = nibble >> 1;
        frame.type = (nibble & PARITY) != 0 ? FrameType::Parity : FrameType::Data;
        return true;
    case HeaderFormat::Arq:
        frame.type = static_cast<FrameType>(nibble);
        return frame.type <= FrameType::Nak;
    default:
        frame.type = static_cast<FrameType>(nibble);
        return frame.type <= FrameType::Parity && frame.type != FrameType::Ack;
    }
}

} // namespace

std::uint8_t HeaderBytes(HeaderFormat format, unsigned sequenceBits)
{
    switch (format)
    {
    case HeaderFormat::Bare:
        return 1;
    case HeaderFormat::Arq:
        return static_cast<std::uint8_t>(1 + 2 * SequenceBytes(sequenceBits));
    default:
        return static_cast<std::uint8_t>(1 + SequenceBytes(sequenceBits));
    }
}

std::size_t EncodeHeader(const AirFrame& frame, HeaderFormat format, unsigned sequenceBits, std::span<std::uint8_t, LONGEST_HEADER> header)
{
    header[0] = static_cast<std::uint8_t>(frame.service << 4 | NibbleOf(frame, format));
    std::size_t length = 1;
    if (format != HeaderFormat::Bare)
    {
        length += Write(frame.sequence, SequenceBytes(sequenceBits), header.subspan(length));
    }
    if (format == HeaderFormat::Arq)
    {
        length += Write(frame.acknowledgement, SequenceBytes(sequenceBits), header.subspan(length));
    }
    return length;
}

std::optional<ServiceId> ServiceOf(Bytes frame)
{
    return frame.empty() ? std::nullopt : std::optional(static_cast<ServiceId>(frame[0] >> 4));
}

std::optional<AirFrame> DecodeHeader(Bytes frame, HeaderFormat format, unsigned sequenceBits)
{
    AirFrame decoded;
    decoded.headerBytes = HeaderBytes(format, sequenceBits);
    if (frame.size() < decoded.headerBytes || !ReadNibble(decoded, format, frame[0] & LOW_NIBBLE))
    {
        return std::nullopt;
    }
    decoded.service = static_cast<ServiceId>(frame[0] >> 4);
    const auto bytes = SequenceBytes(sequenceBits);
    if (format != HeaderFormat::Bare)
    {
        decoded.sequence = Read(frame.subspan(1), bytes);
    }
    if (format == HeaderFormat::Arq)
    {
        decoded.acknowledgement = Read(frame.subspan(1 + bytes), bytes);
    }
    return decoded;
}

} // namespace netboxit::multiservice
