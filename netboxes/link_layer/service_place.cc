// SPDX-License-Identifier: GPL-2.0-or-later
#include "service_place.h"

#include <utility>
#include <vector>

namespace netboxit::multiservice
{

namespace
{

/// Frames of a service's own, beyond those with new packets, that may wait: its retransmissions and control frames. More come
/// only where the link is much slower than the timers of the service are made for.
constexpr std::size_t OWN_FRAMES = 65'536;

} // namespace

ServicePlace::ServicePlace(ServiceId id, LayerParts parts) : m_id(id), m_parts(std::move(parts))
{
}

void ServicePlace::Send(const Packet& packet)
{
    // Where packets of an earlier service still wait afterwards, this one has no room either.
    Feed();
    if (m_parts.scheduler.Frames(m_id) >= m_room)
    {
        m_service->Reject(packet, Drop::QueueFull);
    }
    else
    {
        m_service->Send(packet);
    }
}

void ServicePlace::Receive(const AirFrame& frame)
{
    if (m_service && frame.generation == m_generation)
    {
        m_service->Receive(frame);
        Feed();
    }
    else if (frame.standsAlone && frame.type == FrameType::Data)
    {
        m_service ? m_service->Deliver(frame.payload) : Deliver(frame.payload);
    }
}

void ServicePlace::Departs(AirFrame& frame) const
{
    if (m_service && frame.generation == m_generation)
    {
        m_service->Departs(frame);
    }
}

void ServicePlace::Departed(const AirFrame& frame)
{
    if (!m_service)
    {
        return;
    }
    frame.generation == m_generation ? m_service->Departed(frame) : m_service->CountDeparted(frame);
    Feed();
}

void ServicePlace::Replace(std::unique_ptr<Service> service)
{
    std::vector<AirFrame> waiting;
    m_parts.scheduler.TakeAll(m_id, waiting);
    for (auto& frame : waiting)
    {
        if (frame.standsAlone)
        {
            m_parts.scheduler.Enqueue(std::move(frame));
        }
    }
    if (service && m_service)
    {
        service->Continue(m_service->Statistics());
    }
    m_service = std::move(service);
    ++m_generation;
}

void ServicePlace::Adopt(const Packet& packet)
{
    m_adopted.push_back(packet);
}

std::deque<Packet> ServicePlace::TakeAdopted()
{
    return std::exchange(m_adopted, {});
}

void ServicePlace::Feed()
{
    while (!m_adopted.empty() && m_service->HasRoom() && m_parts.scheduler.Frames(m_id) < m_room)
    {
        // It was counted as offered when it came from above.
        const auto packet = std::move(m_adopted.front());
        m_adopted.pop_front();
        m_service->Resend(packet);
    }
}

bool ServicePlace::Emit(AirFrame frame)
{
    if (m_parts.scheduler.Frames(m_id) >= m_room + OWN_FRAMES)
    {
        return false;
    }
    frame.service = m_id;
    frame.generation = m_generation;
    m_parts.scheduler.Enqueue(std::move(frame));
    m_parts.framesWait();
    return true;
}

void ServicePlace::Deliver(const Packet& packet)
{
    m_parts.host.Deliver(m_id, packet);
    packet.MarkDelivered();
}

void ServicePlace::GaveUp(std::uint16_t sequence)
{
    m_parts.host.GaveUp(m_id, sequence);
}

void ServicePlace::Keep(const Packet& packet)
{
    m_parts.host.Keep(packet);
}

std::span<const std::uint8_t> ServicePlace::BytesOf(const Packet& packet) const
{
    return m_parts.host.BytesOf(packet);
}

} // namespace netboxit::multiservice
