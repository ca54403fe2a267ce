// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../engine/segment.h"

#include "ns3/nstime.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace netboxit
{

/// A frame on its way over the satellite.
struct Packet
{
    Frame frame;
    StationId from{};
    Destination to;
    ns3::Time entered; ///< when it came to its first sender
    /// Of its latest way: the codewords of its carrier in which it is, and how the last of them is modulated and coded.
    std::uint64_t firstCodeword{};
    std::uint64_t lastCodeword{};
    std::size_t profile{};
};

/// What an encapsulation adds to a packet and to each of its fragments, in bytes.
struct Encapsulation
{
    std::uint32_t complete;     ///< header of a packet that is not fragmented
    std::uint32_t start;        ///< header of a first fragment
    std::uint32_t continuation; ///< header of each further fragment
    std::uint32_t packet;       ///< once a packet, before it: protocol type and label
    std::uint32_t uncommon;     ///< more of it when the protocol has no compressed type
    std::uint32_t trailer;      ///< once a fragmented packet, after it: sequence number or CRC
    std::uint32_t longestField; ///< largest value of a length field, packet bytes plus `packet` and `trailer`

    /// Bytes before a packet beside the fragments' headers.
    std::uint32_t PacketHeader(const Frame& frame) const;
    bool Carries(const Frame& frame) const;
};

/// Return Link Encapsulation, ETSI TS 103 179.
extern const Encapsulation RLE;
/// Generic Stream Encapsulation, ETSI TS 102 606-1.
extern const Encapsulation GSE;

/// Cuts packets into the payloads of bursts or BBFRAMEs, one packet after the other.
class Packer
{
  public:
    explicit Packer(const Encapsulation& encapsulation) : m_encapsulation(encapsulation)
    {
    }

    /// True while a packet is begun and not ended: only then is Begin not allowed.
    bool IsBusy() const
    {
        return m_packet.has_value();
    }
    /// The packet that is begun; null when there is none.
    const Packet* Current() const
    {
        return m_packet ? &*m_packet : nullptr;
    }
    /// Bytes of it, its header and its trailer still to be sent.
    std::uint32_t Left() const
    {
        return m_packet ? m_left : 0;
    }
    void Begin(const Packet& packet);
    /// Puts as much of the current packet as fits into `room` bytes, and returns how many bytes it took: 0
    /// when not even a fragment fits, so that the rest is padding. When this ended the packet, Ended returns
    /// it once.
    std::uint32_t Put(std::uint32_t room);
    std::optional<Packet> Ended();
    /// The packet that is begun, of which no more is sent; nothing when there is none.
    std::optional<Packet> Abandon();

  private:
    std::uint32_t PutFirst(std::uint32_t room);
    std::uint32_t PutNext(std::uint32_t room);

    const Encapsulation& m_encapsulation;
    std::optional<Packet> m_packet;
    bool m_started{};
    bool m_ended{};
    std::uint32_t m_left{}; ///< bytes of the packet, its header and trailer still to be sent
};

} // namespace netboxit
