// SPDX-License-Identifier: GPL-2.0-or-later
#include "tcp_segment.h"

#include "checksum.h"

#include <algorithm>

namespace netboxit::stages
{

namespace
{

constexpr std::uint8_t TCP = 6; ///< IANA protocol number

// Places in the TCP header, and its flags: RFC 9293, section 3.1.
constexpr std::size_t SHORTEST_HEADER = 20;
constexpr std::size_t WINDOW = 14;
constexpr std::size_t CHECKSUM = 16;
constexpr std::uint8_t FIN = 0x01;
constexpr std::uint8_t SYN = 0x02;
constexpr std::uint8_t RST = 0x04;
constexpr std::uint8_t ACK = 0x10;

// IANA's TCP option kinds.
constexpr std::uint8_t END_OF_OPTIONS = 0;
constexpr std::uint8_t NO_OPERATION = 1;
constexpr std::uint8_t MAXIMUM_SEGMENT_SIZE = 2;
constexpr std::uint8_t WINDOW_SCALE = 3;
constexpr std::uint8_t TIMESTAMPS = 8;
constexpr std::uint8_t MD5_SIGNATURE = 19;
constexpr std::uint8_t AUTHENTICATION = 29;

/// RFC 7323, section 2.3: a larger one is used as 14.
constexpr std::uint8_t LARGEST_SCALE = 14;

std::uint32_t BigEndian32(Bytes bytes, std::size_t at)
{
    return std::uint32_t{BigEndian16(bytes, at)} << 16 | BigEndian16(bytes, at + 2);
}

/// Whether all of the packet is in the frame: the receiving host drops it otherwise.
bool IsComplete(const IpHeaders& ip)
{
    return ip.version == 4 ? BigEndian16(ip.header, 2) == ip.header.size() + ip.payload.size()
                           : BigEndian16(ip.header, 4) == ip.payload.size();
}

/// An option whose length is not the one that its kind has is skipped, as hosts do.
void ReadOption(TcpSegment& segment, std::uint8_t kind, Bytes value)
{
    if (kind == MD5_SIGNATURE || kind == AUTHENTICATION)
    {
        segment.isAuthenticated = true;
    }
    if (!segment.syn)
    {
        return;
    }
    if (kind == MAXIMUM_SEGMENT_SIZE && value.size() == 2)
    {
        segment.mss = BigEndian16(value, 0);
    }
    else if (kind == WINDOW_SCALE && value.size() == 1)
    {
        segment.windowScale = std::min(value[0], LARGEST_SCALE);
    }
    else if (kind == TIMESTAMPS && value.size() == 8)
    {
        segment.timestamps = true;
    }
}

/// False: an option does not fit the header or has an impossible length.
bool ReadOptions(TcpSegment& segment, Bytes options)
{
    while (!options.empty() && options[0] != END_OF_OPTIONS)
    {
        if (options[0] == NO_OPERATION)
        {
            options = options.subspan(1);
            continue;
        }
        if (options.size() < 2 || options[1] < 2 || options[1] > options.size())
        {
            return false;
        }
        ReadOption(segment, options[0], options.subspan(2, options[1] - 2U));
        options = options.subspan(options[1]);
    }
    return true;
}

} // namespace

std::optional<TcpSegment> ReadTcpSegment(const Headers& headers)
{
    std::optional<TcpSegment> read; // the one object that is returned, so that nothing is copied
    const auto& ip = headers.ip;
    // Behind an authentication header nothing may be changed: such a packet counts as IPsec.
    if (!ip || ip->part != Part::Whole || ip->protocol != TCP || ip->isAuthenticated || !IsComplete(*ip))
    {
        return read;
    }
    const auto bytes = ip->transport;
    if (bytes.size() < SHORTEST_HEADER)
    {
        return read;
    }
    const std::size_t length = (bytes[12] >> 4) * 4U;
    if (length < SHORTEST_HEADER || length > bytes.size())
    {
        return read;
    }
    auto& segment = read.emplace();
    segment.sourcePort = BigEndian16(bytes, 0);
    segment.destinationPort = BigEndian16(bytes, 2);
    segment.sequence = BigEndian32(bytes, 4);
    segment.acknowledgement = BigEndian32(bytes, 8);
    segment.syn = (bytes[13] & SYN) != 0;
    segment.fin = (bytes[13] & FIN) != 0;
    segment.rst = (bytes[13] & RST) != 0;
    segment.ack = (bytes[13] & ACK) != 0;
    segment.window = BigEndian16(bytes, WINDOW);
    segment.payload = static_cast<std::uint32_t>(bytes.size() - length);
    segment.header = bytes.first(length);
    if (!ReadOptions(segment, bytes.subspan(SHORTEST_HEADER, length - SHORTEST_HEADER)))
    {
        read.reset();
    }
    return read;
}

bool RewriteWindow(std::span<std::uint8_t> frame, const TcpSegment& segment, std::uint16_t window)
{
    if (segment.isAuthenticated)
    {
        return false;
    }
    const auto header = frame.subspan(static_cast<std::size_t>(segment.header.data() - frame.data()), segment.header.size());
    ReplaceWord(header, WINDOW, window, CHECKSUM);
    return true;
}

} // namespace netboxit::stages
