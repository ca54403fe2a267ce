// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>

namespace netboxit
{

/// How a layer-3 packet is cut into frames, after RFC 4944, 5.1 and 5.3. Sizes in bytes.
class Fragmentation
{
  public:
    /// Names the packet's protocol (5.1). RFC 4944's says IPv6; that of ours says what the EtherType says.
    static constexpr std::uint32_t DISPATCH = 1;
    static constexpr std::uint32_t FIRST_HEADER = 4;
    static constexpr std::uint32_t FURTHER_HEADER = 5;
    /// Offsets count in such units, so all fragments but the last carry whole ones.
    static constexpr std::uint32_t UNIT = 8;
    /// Largest packet that the 11 bits of datagram_size can tell.
    static constexpr std::uint32_t LONGEST_PACKET = 2047;

    /// What a MAC frame carries at most.
    explicit constexpr Fragmentation(std::uint32_t room) : m_room(room)
    {
    }

    /// Bytes of the packet that go into the frame that begins at `offset` of it.
    constexpr std::uint32_t Part(std::uint32_t packet, std::uint32_t offset) const
    {
        if (DISPATCH + packet <= m_room)
        {
            return packet;
        }
        const auto header = offset == 0 ? FIRST_HEADER + DISPATCH : FURTHER_HEADER;
        const auto whole = (m_room - header) / UNIT * UNIT;
        return packet - offset <= m_room - header && offset > 0 ? packet - offset : std::min(packet - offset, whole);
    }

    /// Bytes of the MAC payload of that frame, headers included.
    constexpr std::uint32_t Payload(std::uint32_t packet, std::uint32_t offset) const
    {
        const auto part = Part(packet, offset);
        if (part == packet)
        {
            return DISPATCH + part;
        }
        return (offset == 0 ? FIRST_HEADER + DISPATCH : FURTHER_HEADER) + part;
    }

  private:
    std::uint32_t m_room;
};

} // namespace netboxit
