// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "frame_scheduler.h"
#include "link_host.h"
#include "service.h"
#include "service_metrics.h"

#include <deque>
#include <functional>
#include <memory>

namespace netboxit::multiservice
{

/// What a layer has for all its services.
struct LayerParts
{
    FrameScheduler& scheduler;
    Timebase& timebase;
    LinkHost& host;
    const LinkFacts& facts;
    std::function<void()> framesWait; ///< the scheduler has frames
};

/// The place of one service in a layer: what the service has around it, the room of its queue, and packets that an earlier
/// service left.
class ServicePlace : public ServicePort
{
  public:
    ServicePlace(ServiceId id, LayerParts parts);

    Service* Occupant() const
    {
        return m_service.get();
    }

    /// Frames that may wait when a packet comes from above.
    void SetRoom(std::size_t frames)
    {
        m_room = frames;
    }

    void Send(const Packet& packet);
    void Receive(const AirFrame& frame);
    void Departs(AirFrame& frame) const;
    void Departed(const AirFrame& frame);

    /// Puts in a service, or none, after the last one left. Frames of the last one that mean nothing without it are gone.
    void Replace(std::unique_ptr<Service> service);
    /// A packet that an earlier service took: goes before all that come from above later, as soon as there is room.
    void Adopt(const Packet& packet);
    /// Packets that still wait for room, and leave.
    std::deque<Packet> TakeAdopted();
    /// The service may have room.
    void Feed();

    const ServiceMetrics& Metrics() const
    {
        return m_metrics;
    }

    ServiceMetrics& Metrics()
    {
        return m_metrics;
    }

    bool Emit(AirFrame frame) override;
    void Deliver(const Packet& packet) override;
    void GaveUp(std::uint16_t sequence) override;
    std::span<const std::uint8_t> BytesOf(const Packet& packet) const override;
    void Keep(const Packet& packet) override;

    Timebase& Time() override
    {
        return m_parts.timebase;
    }

    const LinkFacts& Facts() const override
    {
        return m_parts.facts;
    }

  private:
    ServiceId m_id;
    LayerParts m_parts;
    std::unique_ptr<Service> m_service;
    ServiceMetrics m_metrics;
    std::deque<Packet> m_adopted;
    std::size_t m_room{};
    std::uint8_t m_generation{0};
};

} // namespace netboxit::multiservice
