// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "frame_scheduler.h"
#include "pacer.h"
#include "service.h"
#include "share_meter.h"

#include <memory>
#include <span>
#include <vector>

namespace netboxit::multiservice
{

/// The end of a link at which a layer is: Snoop works at the base station only (spec 1.6.11).
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
    /// Begins to transmit a frame. When the transmission ends, not within this call, the host calls TransmitComplete(). The frame is valid until then.
    virtual void Transmit(const AirFrame& frame) = 0;
    /// A packet of the other end for the upper layer. With Snoop a packet may come more than once: packet.IsDelivered() tells before the first time.
    virtual void Deliver(ServiceId service, const Packet& packet) = 0;
    /// Pacing permits the next packet: IsOpen() is true again.
    virtual void Opened() = 0;
    /// To be told to the other end by PeerGaveUp(), within this call. Not where the other end is in another program: it then keeps the packet for longer.
    virtual void GaveUp(ServiceId service, std::uint16_t sequence) = 0;
    /// The packet as an Ethernet frame; empty where the host has no bytes. Only Snoop asks.
    virtual std::span<const std::uint8_t> BytesOf(const Packet& packet) const = 0;
};

/// One end of a multi-service link layer (Xylomenos 1999, chapter 6; spec 1.7, F6.1): pacing, services, frame scheduler, demultiplexer and
/// multiplexer. The classifier is the host's: it says which service a packet goes to.
///
/// Settings are JSON in base units, as the technology's parameters.py dumps them, with all keys:
///
///     services: [{scheme: …, share: 0.33, queue: 1000, …}, …]   by ServiceId, at most MOST_SERVICES; make_service.h has the schemes
///     shares: fixed | measured                                  spec 1.7.2
///     measure_interval: 1.0                                     s, also of the metrics
///     smoothing: 0.0                                            weight of the metrics reported before, spec 4.5
///     timer_factor: services | share | a number                 spec 1.7.5
///     pacing: {mode: none | packet | batch, batch: 10, overhead: 0}   spec 1.7.3; overhead: bytes of each packet, besides its own
///
/// One thread. All calls happen at Timebase::Now().
class MultiServiceLink
{
  public:
    /// `timebase` and `host` outlive it, and so does the pool of its packets.
    MultiServiceLink(const Json& settings, const LinkFacts& facts, LinkEnd end, Timebase& timebase, LinkHost& host);
    ~MultiServiceLink();

    // Above.

    /// Whether pacing permits a packet now. Always without pacing.
    bool IsOpen() const;
    /// A packet for a service. Call where it is open. A service that does not exist is 0 (spec 1.7.1).
    void Send(ServiceId service, const Packet& packet);

    // Below.

    /// The transmission of the frame that Transmit() was called with has ended.
    void TransmitComplete();
    /// An undamaged frame of the other end.
    void Receive(const AirFrame& frame);
    /// A frame of the other end that was damaged on the air. For accounts only.
    void Damaged(const AirFrame& frame);
    /// The other end's GaveUp().
    void PeerGaveUp(ServiceId service, std::uint16_t sequence);

    // Administration (spec 1.7.8), live.

    /// New settings for services that keep their schemes, and for all else. Throws std::invalid_argument where one is not permitted, or where
    /// the schemes or their number differ (ChangeSchemes() is for that); nothing changes then.
    void Set(const Json& settings);
    void SetFacts(const LinkFacts& facts);
    /// Gives both ends of a link new services where their schemes differ, adds or removes services at the end, and does all that Set() does. It stands for a
    /// reset that both ends have agreed on. A packet that a service took and that has not been delivered goes through the service that
    /// takes its place, in the same order, before all later ones; through service 0 where there is none. It waits as long as that service has no
    /// room. Frames of services that repeat nothing go on.
    static void ChangeSchemes(MultiServiceLink& one, const Json& ofOne, MultiServiceLink& other, const Json& ofOther);

    /// Bytes of frames that wait for the transmitter.
    std::uint64_t QueuedBytes() const;
    /// {services: [{scheme, share, timer_factor, sent…, received…, goodput, loss, delay, effective_goodput, …}], pacing: …}, in base units.
    Json Read() const;
    /// Starts counts and metrics anew.
    void ResetStatistics();
};

} // namespace netboxit::multiservice
