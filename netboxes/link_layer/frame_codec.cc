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

std::uint8_t NibbleOf(const AirFrame& frame, HeaderFields fields)
{
    switch (fields)
    {
    case HeaderFields::Bare:
        return 0;
    case HeaderFields::Block:
        return static_cast<std::uint8_t>((frame.block & BLOCKS_MASK) << 1 | (frame.type == FrameType::Parity ? PARITY : 0));
    default:
        return static_cast<std::uint8_t>(frame.type);
    }
}

/// False: frames of this format have no such nibble.
bool ReadNibble(AirFrame& frame, HeaderFields fields, std::uint8_t nibble)
{
    switch (fields)
    {
    case HeaderFields::Bare:
        return nibble == 0;
    case HeaderFields::Block:
        frame.block = nibble >> 1;
        frame.type = (nibble & PARITY) != 0 ? FrameType::Parity : FrameType::Data;
        return true;
    case HeaderFields::Arq:
        frame.type = static_cast<FrameType>(nibble);
        return frame.type <= FrameType::Nak;
    default:
        frame.type = static_cast<FrameType>(nibble);
        return frame.type <= FrameType::Parity && frame.type != FrameType::Ack;
    }
}

} // namespace

std::uint8_t HeaderFormat::Bytes() const
{
    switch (fields)
    {
    case HeaderFields::Bare:
        return 1;
    case HeaderFields::Arq:
        return static_cast<std::uint8_t>(1 + 2 * SequenceBytes(sequenceBits));
    default:
        return static_cast<std::uint8_t>(1 + SequenceBytes(sequenceBits));
    }
}

std::size_t EncodeHeader(const AirFrame& frame, const HeaderFormat& format, std::span<std::uint8_t, LONGEST_HEADER> header)
{
    header[0] = static_cast<std::uint8_t>(frame.service << 4 | NibbleOf(frame, format.fields));
    const auto bytes = SequenceBytes(format.sequenceBits);
    std::size_t length = 1;
    if (format.fields != HeaderFields::Bare)
    {
        length += Write(frame.sequence, bytes, header.subspan(length));
    }
    if (format.fields == HeaderFields::Arq)
    {
        length += Write(frame.acknowledgement, bytes, header.subspan(length));
    }
    return length;
}

std::optional<ServiceId> ServiceOf(Bytes frame)
{
    return frame.empty() ? std::nullopt : std::optional(static_cast<ServiceId>(frame[0] >> 4));
}

std::optional<AirFrame> DecodeHeader(Bytes frame, const HeaderFormat& format)
{
    AirFrame decoded;
    decoded.headerBytes = format.Bytes();
    if (frame.size() < decoded.headerBytes || !ReadNibble(decoded, format.fields, frame[0] & LOW_NIBBLE))
    {
        return std::nullopt;
    }
    decoded.service = *ServiceOf(frame);
    const auto bytes = SequenceBytes(format.sequenceBits);
    if (format.fields != HeaderFields::Bare)
    {
        decoded.sequence = Read(frame.subspan(1), bytes);
    }
    if (format.fields == HeaderFields::Arq)
    {
        decoded.acknowledgement = Read(frame.subspan(1 + bytes), bytes);
    }
    return decoded;
}

} // namespace netboxit::multiservice
