// SPDX-License-Identifier: GPL-2.0-or-later
#include "accounting.h"

#include "../engine/fragmentation.h"
#include "tcp_segment.h"

#include <algorithm>

namespace netboxit::multiservice
{

namespace
{

constexpr std::uint8_t UDP = 17;
constexpr std::uint32_t UDP_HEADER = 8;
/// A TCP segment without data in the source's simulator: the one packet whose headers it counts (Xylomenos 1999, 4.3).
constexpr std::uint32_t BARE_ACKNOWLEDGEMENT = 40;

std::uint32_t PayloadOf(const Frame& frame, Bytes bytes)
{
    const auto headers = ReadHeaders(bytes);
    if (const auto segment = stages::ReadTcpSegment(headers))
    {
        return segment->payload > 0 ? segment->payload : BARE_ACKNOWLEDGEMENT;
    }
    const auto& ip = headers.ip;
    if (ip && ip->protocol == UDP && ip->part == Part::Whole && ip->transport.size() >= UDP_HEADER)
    {
        return static_cast<std::uint32_t>(ip->transport.size()) - UDP_HEADER;
    }
    return frame.length;
}

} // namespace

Accounting::Accounting(Kind kind, std::uint32_t frame) : m_kind(kind), m_frame(frame)
{
}

std::uint32_t Accounting::PacketBytes(const Frame& frame, Bytes bytes) const
{
    return m_kind == Kind::Payload ? PayloadOf(frame, bytes) : frame.length;
}

std::uint32_t Accounting::Pieces(std::uint32_t packetBytes) const
{
    if (m_kind == Kind::Payload)
    {
        return std::max(1U, (packetBytes + m_frame - 1) / m_frame);
    }
    const Fragmentation fragmentation(m_frame);
    std::uint32_t pieces = 0;
    for (std::uint32_t offset = 0; pieces == 0 || offset < packetBytes; ++pieces)
    {
        offset += fragmentation.Part(packetBytes, offset);
    }
    return pieces;
}

std::uint32_t Accounting::PieceBytes(std::uint32_t packetBytes, std::uint32_t number) const
{
    if (m_kind == Kind::Payload)
    {
        return std::min(m_frame, packetBytes - number * m_frame);
    }
    const Fragmentation fragmentation(m_frame);
    std::uint32_t offset = 0;
    for (; number > 0; --number)
    {
        offset += fragmentation.Part(packetBytes, offset);
    }
    return fragmentation.Payload(packetBytes, offset);
}

} // namespace netboxit::multiservice
