// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "accounting.h"
#include "multi_service_link.h"
#include "packets_under_way.h"

#include "layer_frames.h"
#include "transmitter.h"

namespace netboxit::link_layer
{

using multiservice::LinkEnd;
using multiservice::LinkFacts;
using multiservice::MultiServiceLink;
using multiservice::Packet;
using multiservice::ServiceId;

/// What all ends of a netbox have in common.
struct LayerParts
{
    multiservice::Timebase& timebase;
    multiservice::PacketPool& pool;
    multiservice::PacketsUnderWay& underWay;
    const multiservice::Accounting& accounting;
    LayerFrames& frames;
    Segment& technology;
};

/// One end of the link layer between two stations: its frames go over the technology to the other end.
class LayerEnd : public multiservice::LinkHost, private Sender
{
  public:
    LayerEnd(const LayerParts& parts, StationId station, StationId peer, Transmitter& transmitter);

    LayerEnd(const LayerEnd&) = delete;
    LayerEnd& operator=(const LayerEnd&) = delete;

    /// Begins with a link layer of these settings, opposite the other end. Throws std::invalid_argument.
    void Open(const Json& layer, const LinkFacts& facts, LinkEnd end, LayerEnd& other);

    /// A packet of its station for the peer.
    void Send(ServiceId service, const Frame& frame);
    /// A frame of the other end; it has not come where the technology lost or damaged it.
    void Take(const AirFrame& frame, bool hasArrived);

    MultiServiceLink& Layer()
    {
        return *m_layer;
    }

    std::uint64_t FramesSent() const
    {
        return m_framesSent;
    }

    std::uint64_t BytesSent() const
    {
        return m_bytesSent;
    }

    /// Also those of its services.
    void ResetStatistics();

    void Transmit(const AirFrame& frame) override;
    void Deliver(ServiceId service, const Packet& packet) override;
    void Opened() override;
    void GaveUp(ServiceId service, std::uint16_t sequence) override;
    std::span<const std::uint8_t> BytesOf(const Packet& packet) const override;
    void Keep(const Packet& packet) override;

  private:
    /// What a technology tells frames apart by.
    struct Marking
    {
        ClassId trafficClass{};
        std::uint8_t dscp{};
    };

    std::uint32_t Begin() override;
    void Complete() override;
    Frame FrameOf(const AirFrame& frame, SlotId slot) const;

    LayerParts m_parts;
    StationId m_station;
    StationId m_peer;
    Transmitter& m_transmitter;
    LayerEnd* m_other{nullptr};
    std::unique_ptr<MultiServiceLink> m_layer;
    AirFrame m_next; ///< has asked the transmitter
    multiservice::HeaderFormat m_format; ///< of that frame, whose service may be gone when its turn comes
    std::vector<Marking> m_ofPackets; ///< by the packet's number
    std::array<Marking, multiservice::MOST_SERVICES> m_ofServices{}; ///< of the latest packet that went through each, either way
    std::uint64_t m_framesSent{0};
    std::uint64_t m_bytesSent{0};
};

} // namespace netboxit::link_layer
