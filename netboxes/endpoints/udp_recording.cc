// SPDX-License-Identifier: GPL-2.0-or-later
#include "udp_recording.h"

#include <algorithm>

namespace netboxit
{

namespace
{

constexpr std::uint8_t UDP_PROTOCOL = 17;
constexpr std::size_t UDP_HEADER = 8;

/// The UDP header and what is there of the payload; empty when the frame has none.
Bytes DatagramIn(Bytes frame)
{
    if (frame.size() < ETHERNET_HEADER)
    {
        return {};
    }
    const auto headers = ReadHeaders(frame);
    if (!headers.ip || headers.ip->protocol != UDP_PROTOCOL || headers.ip->part == Part::LaterFragment)
    {
        return {};
    }
    auto rest = headers.ip->payload;
    // IPv6's extension headers are rare in recordings of media; a packet with them is passed over.
    if (headers.ip->version == 6 && headers.ip->header[6] != UDP_PROTOCOL)
    {
        return {};
    }
    return rest.size() < UDP_HEADER || BigEndian16(rest, 4) < UDP_HEADER ? Bytes{} : rest;
}

} // namespace

UdpRecording::UdpRecording(const std::string& path) : m_reader(path)
{
}

std::optional<DatagramSource::Datagram> UdpRecording::Next()
{
    while (const auto packet = m_reader.Next())
    {
        const auto datagram = DatagramIn(packet->data);
        if (datagram.empty())
        {
            continue;
        }
        m_first = m_first.value_or(packet->timeNs);
        const std::size_t length = BigEndian16(datagram, 4) - UDP_HEADER;
        const auto content = datagram.subspan(UDP_HEADER);
        return Datagram{packet->timeNs - *m_first, length, content.first(std::min(length, content.size()))};
    }
    return std::nullopt;
}

bool UdpRecording::IsNumbered() const
{
    return false;
}

} // namespace netboxit
