// SPDX-License-Identifier: GPL-2.0-or-later
#include "numbered_frame.h"

#include <algorithm>

namespace netboxit
{

namespace
{

constexpr std::size_t FCS = 4;
constexpr std::size_t IP = ETHERNET_HEADER;
constexpr std::size_t IDENTIFICATION = IP + 4;
constexpr std::size_t CHECKSUM = IP + 10;
constexpr std::size_t UDP = IP + 20;
constexpr std::size_t PAYLOAD = UDP + 8;
constexpr std::uint8_t TIME_TO_LIVE = 64;
constexpr std::uint8_t UDP_PROTOCOL = 17;

/// RFC 1071: the sum of 16-bit words, carries folded back in.
std::uint32_t Folded(std::uint32_t sum)
{
    sum = (sum & 0xffff) + (sum >> 16);
    return (sum & 0xffff) + (sum >> 16);
}

} // namespace

NumberedFrame::NumberedFrame(const FlowAddresses& flow, std::size_t size) : m_flow(flow)
{
    Resize(size);
}

void NumberedFrame::Resize(std::size_t size)
{
    m_bytes.assign(size - FCS, 0);
    auto* const frame = m_bytes.data();
    std::ranges::copy(m_flow.destinationMac, frame);
    std::ranges::copy(m_flow.sourceMac, frame + 6);
    payload::Write16(frame + 12, ether_type::IPV4);
    frame[IP] = 0x45; // version 4, a header of 5 words
    frame[IP + 1] = static_cast<std::uint8_t>(m_flow.dscp << 2);
    payload::Write16(frame + IP + 2, static_cast<std::uint16_t>(m_bytes.size() - IP));
    frame[IP + 8] = TIME_TO_LIVE;
    frame[IP + 9] = UDP_PROTOCOL;
    std::ranges::copy(m_flow.source, frame + IP + 12);
    std::ranges::copy(m_flow.destination, frame + IP + 16);
    payload::Write16(frame + UDP, m_flow.sourcePort);
    payload::Write16(frame + UDP + 2, m_flow.destinationPort);
    payload::Write16(frame + UDP + 4, static_cast<std::uint16_t>(m_bytes.size() - UDP));
    // A UDP checksum of 0 says that there is none (RFC 768): the stamp would change it in each frame.
    payload::Write16(frame + PAYLOAD, payload::MAGIC);
    std::uint32_t sum = 0;
    for (std::size_t at = IP; at < UDP; at += 2)
    {
        sum += BigEndian16(m_bytes, at);
    }
    m_checksum = Folded(sum);
}

Bytes NumberedFrame::Write(std::uint64_t sequence, std::int64_t stamp)
{
    auto* const frame = m_bytes.data();
    const auto identification = static_cast<std::uint16_t>(sequence);
    payload::Write16(frame + IDENTIFICATION, identification);
    payload::Write16(frame + CHECKSUM, static_cast<std::uint16_t>(~Folded(m_checksum + identification)));
    payload::Write64(frame + PAYLOAD + payload::SEQUENCE_AT, sequence);
    payload::Write64(frame + PAYLOAD + payload::STAMP_AT, static_cast<std::uint64_t>(stamp));
    return m_bytes;
}

} // namespace netboxit
