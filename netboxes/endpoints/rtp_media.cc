// SPDX-License-Identifier: GPL-2.0-or-later
#include "rtp_media.h"

#include <cmath>

namespace netboxit
{

namespace
{

constexpr double NS = 1e9;
/// A datagram of IPv4 (RFC 768), less the RTP header.
constexpr double LONGEST = 65507 - 12;
constexpr std::uint8_t VERSION = 2 << 6;

template <typename Number>
void Write(std::uint8_t* at, Number value)
{
    for (std::size_t byte = 0; byte < sizeof value; ++byte)
    {
        at[byte] = static_cast<std::uint8_t>(value >> (8 * (sizeof value - 1 - byte)));
    }
}

} // namespace

RtpMedia::Configuration RtpMedia::Read(Section section)
{
    Configuration result{.packets = {},
                         .turn = std::llround(section.NumberOr("repeat_s", 0, 1e-6, LONGEST_S) * NS),
                         .until = std::llround(section.NumberOr("until_s", 0, 0, LONGEST_S) * NS),
                         .clock = section.NumberOr("clock_hz", 90'000, 1, 1e9),
                         .payloadType = static_cast<std::uint8_t>(section.NumberOr("payload_type", 96, 0, 127)),
                         .source = static_cast<std::uint32_t>(section.NumberOr("ssrc", 1, 0, UINT32_MAX))};
    std::int64_t latest = 0;
    for (const auto& json : section.List("packets"))
    {
        Section packet(json, section.Path("packets[" + std::to_string(result.packets.size()) + "]"));
        result.packets.push_back({.offset = std::llround(packet.NumberOr("at_s", 0, 0, LONGEST_S) * NS),
                                  .length = static_cast<std::size_t>(packet.NumberOr("bytes", 0, 0, LONGEST)),
                                  .media = std::llround(packet.NumberOr("media_s", 0, 0, LONGEST_S) * NS),
                                  .marker = !packet.At("marker").is_null() && packet.Truth("marker")});
        const auto offset = result.packets.back().offset;
        if (offset < latest || offset >= result.turn)
        {
            packet.Refuse("at_s", "packets are in order of time, and within repeat_s");
        }
        latest = offset;
        packet.Finish();
    }
    if (result.packets.empty() || result.turn == 0)
    {
        section.Refuse(result.turn == 0 ? "repeat_s" : "packets", "missing");
    }
    section.Finish();
    return result;
}

RtpMedia::RtpMedia(Configuration configuration) : m_configuration(std::move(configuration))
{
}

std::optional<DatagramSource::Datagram> RtpMedia::Next()
{
    const auto& packet = m_configuration.packets[m_packet];
    const auto turn = m_turns * m_configuration.turn;
    const auto offset = turn + packet.offset;
    if (offset >= m_configuration.until)
    {
        return std::nullopt;
    }
    const auto stamp = std::llround(static_cast<double>(turn + packet.media) / NS * m_configuration.clock);
    m_header[0] = VERSION;
    m_header[1] = static_cast<std::uint8_t>(packet.marker << 7 | m_configuration.payloadType);
    Write(&m_header[2], m_number++);
    Write(&m_header[4], static_cast<std::uint32_t>(stamp));
    Write(&m_header[8], m_configuration.source);
    if (++m_packet == m_configuration.packets.size())
    {
        m_packet = 0;
        ++m_turns;
    }
    return Datagram{offset, HEADER + packet.length, m_header};
}

bool RtpMedia::IsNumbered() const
{
    return false;
}

} // namespace netboxit
