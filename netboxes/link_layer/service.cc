// SPDX-License-Identifier: GPL-2.0-or-later
#include "service.h"

namespace netboxit::multiservice
{

void Service::Send(const Packet& packet)
{
    CountOffered(packet);
    TakePacket(packet);
}

void Service::Receive(const AirFrame& frame)
{
    ++m_statistics.receivedFrames;
    TakeFrame(frame);
}

void Service::Departed(const AirFrame& frame)
{
    CountDeparted(frame);
    FrameDeparted(frame);
}

void Service::CountDeparted(const AirFrame& frame)
{
    m_statistics.sentBytes += frame.Bytes();
    if (frame.type == FrameType::Parity)
    {
        ++m_statistics.sentParity;
    }
    else if (frame.type != FrameType::Data)
    {
        ++m_statistics.sentControl;
    }
    else if (frame.isRetransmission)
    {
        ++m_statistics.retransmissions;
    }
    else
    {
        ++m_statistics.sentData;
        m_statistics.sentDataBytes += frame.payload.Bytes();
    }
}

void Service::Damaged(const AirFrame& frame)
{
    ++m_statistics.damagedFrames;
    if (frame.standsAlone && frame.type == FrameType::Data)
    {
        frame.payload.Blame(Drop::OnAir);
    }
    FrameDamaged(frame);
}

void Service::SetTimerFactor(double factor)
{
    if (factor != m_timerFactor)
    {
        m_timerFactor = factor;
        TimerFactorChanged();
    }
}

void Service::Reject(const Packet& packet, Drop reason)
{
    CountOffered(packet);
    Refuse(packet, reason);
}

void Service::CountOffered(const Packet& packet)
{
    ++m_statistics.offeredPackets;
    m_statistics.offeredBytes += packet.Bytes();
}

void Service::Refuse(const Packet& packet, Drop reason)
{
    ++m_statistics.Dropped(reason);
    packet.Blame(reason);
}

void Service::Deliver(const Packet& packet, std::int64_t later)
{
    const auto& facts = m_port.Facts();
    ++m_statistics.delivered;
    m_statistics.deliveredBytes += packet.Bytes();
    m_statistics.repaired += later > 0 ? 1 : 0;
    m_statistics.delay += facts.delay + facts.TimeOf(packet.Bytes()) + later;
    m_port.Deliver(packet);
}

std::int64_t Service::RoundTrip() const
{
    const auto& facts = m_port.Facts();
    return 2 * facts.delay + facts.TimeOf(facts.framePayload);
}

} // namespace netboxit::multiservice
