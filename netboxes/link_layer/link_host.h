// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "air_frame.h"

#include <cstdint>
#include <span>

namespace netboxit::multiservice
{

/// The end of a link at which a layer is: Snoop works at the base station only (section 4.2.3).
enum class LinkEnd : std::uint8_t
{
    Base,
    Mobile,
};

/// Whoever has a layer: the link below it, the upper layer above it, and the other end's accounts.
class LinkHost
{
  public:
    virtual ~LinkHost() = default;
    /// Begins to transmit a frame. When the transmission ends, not within this call, the host calls TransmitComplete(). The
    /// frame is valid until then.
    virtual void Transmit(const AirFrame& frame) = 0;
    /// A packet of the other end for the upper layer. One that was kept may come more than once, and goes up each time:
    /// packet.IsDelivered() tells it from the first.
    virtual void Deliver(ServiceId service, const Packet& packet) = 0;
    /// Pacing permits the next packet: IsOpen() is true again.
    virtual void Opened() = 0;
    /// To be told to the other end by PeerGaveUp(), within this call. Not where the other end is in another program: it then
    /// keeps the packet for longer.
    virtual void GaveUp(ServiceId service, std::uint16_t sequence) = 0;
    /// The packet as an Ethernet frame; empty where the host has no bytes. Only Snoop asks.
    virtual std::span<const std::uint8_t> BytesOf(const Packet& packet) const = 0;
    /// The packet may come to the other end's upper layer more than once: what has bytes keeps them. Only Snoop asks.
    virtual void Keep(const Packet&)
    {
    }
};

} // namespace netboxit::multiservice
