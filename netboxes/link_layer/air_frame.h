// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "packet_pool.h"

#include <cstdint>

namespace netboxit::multiservice
{

/// The number of a service on a link: 4 bits of each frame's first byte (section 4.2).
using ServiceId = std::uint8_t;

inline constexpr ServiceId MOST_SERVICES = 16;

/// The values are those of the low nibble of a frame's first byte (frame_codec.h).
enum class FrameType : std::uint8_t
{
    Data,
    Ack,
    Nak,
    KeepAlive,
    Parity,
};

/// A frame of the link layer on its way from one end to the other: the fields that its header has, and the packet that it
/// carries.
struct AirFrame
{
    ServiceId service{};
    FrameType type{};
    /// Of ARQ and FEC. Of a NAK: the frame that is missing; of a keepalive: the latest one that was sent.
    std::uint16_t sequence{};
    std::uint16_t acknowledgement{}; ///< of ARQ with ACKs: the next frame that its sender expects
    std::uint8_t block{};            ///< of adaptive XOR
    std::uint8_t headerBytes{};
    /// Not on the air: how many times the service had been replaced when the frame was made. What the two ends of a real link
    /// agree on when they reset a service.
    std::uint8_t generation{};
    /// Not on the air: the packet means something without the state of its service, and nobody repeats it.
    bool standsAlone{};
    /// Not on the air: for statistics.
    bool isRetransmission{};
    /// Not on the air: it goes before all frames of its service that are not, and behind those that are.
    bool isUrgent{};
    Packet payload{}; ///< null in control frames

    /// Accounted bytes: what it takes of the transmitter's time and what its chance of an error depends on.
    std::uint32_t Bytes() const
    {
        return headerBytes + (payload ? payload.Bytes() : 0);
    }
};

} // namespace netboxit::multiservice
