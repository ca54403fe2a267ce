// SPDX-License-Identifier: GPL-2.0-or-later
#include "encapsulation.h"

#include <algorithm>

namespace netboxit
{

namespace
{

/// Protocols for which RLE has a type of one byte (ETSI TS 103 179, protocol type compression): IPv4, ARP,
/// IPv6, VLAN tag.
bool HasCompressedType(std::uint16_t etherType)
{
    return etherType == 0x0800 || etherType == 0x0806 || etherType == 0x86DD || etherType == 0x8100;
}

} // namespace

/// PPDU headers: 2 bytes, or 4 with total length and flags in a START PPDU. ALPDU: protocol type compressed
/// to 1 byte, for other protocols an escape and 2 bytes; label implied by the burst's owner; sequence number
/// of 1 byte after a fragmented packet. The total length has 12 bits.
const Encapsulation RLE{.complete = 2,
                        .start = 4,
                        .continuation = 2,
                        .packet = 1,
                        .uncommon = 2,
                        .trailer = 1,
                        .longestField = 4095};

/// Fixed part and length: 2 bytes; fragment identity 1 byte; total length 2 bytes in the first fragment;
/// protocol type 2 bytes and a label of 3 bytes (LT = 01, as long as DVB-RCS2's SVN-MAC); CRC-32 after a
/// fragmented packet. The length has 12 bits.
const Encapsulation GSE{.complete = 2,
                        .start = 5,
                        .continuation = 3,
                        .packet = 5,
                        .uncommon = 0,
                        .trailer = 4,
                        .longestField = 4095};

std::uint32_t Encapsulation::PacketHeader(const Frame& frame) const
{
    return packet + (HasCompressedType(frame.etherType) ? 0 : uncommon);
}

bool Encapsulation::Carries(const Frame& frame) const
{
    return frame.length <= longestField - PacketHeader(frame) - trailer;
}

void Packer::Begin(const Packet& packet)
{
    m_packet = packet;
    m_started = false;
    m_ended = false;
    m_left = m_encapsulation.PacketHeader(packet.frame) + packet.frame.length;
}

std::uint32_t Packer::Put(std::uint32_t room)
{
    return m_started ? PutNext(room) : PutFirst(room);
}

std::uint32_t Packer::PutFirst(std::uint32_t room)
{
    const auto whole = m_encapsulation.complete + m_left;
    if (whole <= room)
    {
        m_ended = true;
        return whole;
    }
    // The protocol type and label stay together in the first fragment, with at least one byte of the packet.
    if (room <= m_encapsulation.start + m_encapsulation.PacketHeader(m_packet->frame))
    {
        return 0;
    }
    m_started = true;
    m_left += m_encapsulation.trailer;
    // A packet that would just fit into a START fragment still needs an END one: leave a byte and the trailer
    // for it.
    const auto taken = std::min(room - m_encapsulation.start, m_left - m_encapsulation.trailer - 1);
    m_left -= taken;
    return m_encapsulation.start + taken;
}

std::uint32_t Packer::PutNext(std::uint32_t room)
{
    if (m_encapsulation.continuation + m_left <= room)
    {
        m_ended = true;
        return m_encapsulation.continuation + m_left;
    }
    // The trailer is not split: it goes with the END fragment.
    const auto splittable = m_left > m_encapsulation.trailer ? m_left - m_encapsulation.trailer : 0;
    if (room <= m_encapsulation.continuation || splittable == 0)
    {
        return 0;
    }
    const auto taken = std::min(room - m_encapsulation.continuation, splittable);
    m_left -= taken;
    return m_encapsulation.continuation + taken;
}

std::optional<Packet> Packer::Ended()
{
    if (!m_ended)
    {
        return std::nullopt;
    }
    m_ended = false;
    return std::exchange(m_packet, std::nullopt);
}

std::optional<Packet> Packer::Abandon()
{
    m_ended = false;
    return std::exchange(m_packet, std::nullopt);
}

} // namespace netboxit
