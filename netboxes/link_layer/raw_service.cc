// SPDX-License-Identifier: GPL-2.0-or-later
#include "raw_service.h"

namespace netboxit::multiservice
{

void RawService::TakePacket(const Packet& packet)
{
    Transmit(packet, false);
}

void RawService::TakeFrame(const AirFrame& frame)
{
    m_statistics.duplicates += frame.payload.IsDelivered() ? 1 : 0;
    const bool isRepair = frame.isRetransmission && !frame.payload.IsDelivered();
    if (isRepair)
    {
        m_statistics.Found();
    }
    Deliver(frame.payload, isRepair ? RoundTrip() : 0);
}

void RawService::FrameDamaged(const AirFrame& frame)
{
    m_statistics.lost += frame.isRetransmission ? 0 : 1;
}

void RawService::Transmit(const Packet& packet, bool isRetransmission)
{
    auto frame = NewFrame(FrameType::Data);
    frame.standsAlone = true;
    frame.isRetransmission = isRetransmission;
    frame.payload = packet;
    m_port.Emit(std::move(frame));
}

} // namespace netboxit::multiservice
