// SPDX-License-Identifier: GPL-2.0-or-later
#include "layer_end.h"

namespace netboxit::link_layer
{

using multiservice::FrameType;

LayerEnd::LayerEnd(const LayerParts& parts, StationId station, StationId peer, Transmitter& transmitter)
    : m_parts(parts), m_station(station), m_peer(peer), m_transmitter(transmitter)
{
}

void LayerEnd::Open(const Json& layer, const LinkFacts& facts, LinkEnd end, LayerEnd& other)
{
    m_other = &other;
    m_layer = std::make_unique<MultiServiceLink>(layer, facts, end, m_parts.timebase, *this);
}

void LayerEnd::Send(ServiceId service, const Frame& frame)
{
    const auto pieces = m_parts.accounting.Pieces(frame.length);
    const auto item = m_parts.underWay.Begin(frame.slot, m_peer, pieces);
    const Marking marking{frame.trafficClass, frame.dscp};
    m_ofPackets.resize(std::max<std::size_t>(m_ofPackets.size(), item + 1));
    m_ofPackets[item] = marking;
    m_ofServices[service] = marking;
    m_other->m_ofServices[service] = marking;
    for (std::uint32_t piece = 0; piece < pieces; ++piece)
    {
        if (m_parts.underWay.IsLost(item))
        {
            m_parts.underWay.Withhold(item, pieces - piece);
            return;
        }
        m_layer->Send(service, m_parts.pool.Take(item, m_parts.accounting.PieceBytes(frame.length, piece)));
    }
}

void LayerEnd::Take(const AirFrame& frame, bool hasArrived)
{
    if (hasArrived)
    {
        m_layer->Receive(frame);
    }
    else
    {
        m_layer->Damaged(frame);
    }
}

void LayerEnd::ResetStatistics()
{
    m_layer->ResetStatistics();
    m_framesSent = 0;
    m_bytesSent = 0;
}

void LayerEnd::Transmit(const AirFrame& frame)
{
    m_next = frame;
    m_format = m_layer->FormatOf(frame.service);
    m_transmitter.Ask(*this);
}

std::uint32_t LayerEnd::Begin()
{
    const auto frame = std::exchange(m_next, {});
    const bool isData = frame.type == FrameType::Data && frame.payload;
    const auto packet = isData ? std::optional(m_parts.underWay.SlotOf(frame.payload.Item())) : std::nullopt;
    const auto slot = m_parts.frames.Begin({m_station, m_peer, frame, packet}, m_format);
    ++m_framesSent;
    m_bytesSent += frame.Bytes();
    m_parts.technology.Transmit(m_station, {m_peer}, FrameOf(frame, slot));
    return frame.Bytes();
}

Frame LayerEnd::FrameOf(const AirFrame& frame, SlotId slot) const
{
    const bool isData = frame.type == FrameType::Data && frame.payload;
    const auto [trafficClass, dscp] = isData ? m_ofPackets[frame.payload.Item()] : m_ofServices[frame.service];
    return {slot, frame.Bytes(), LINK_LAYER, dscp, trafficClass};
}

void LayerEnd::Complete()
{
    m_layer->TransmitComplete();
}

void LayerEnd::Deliver(ServiceId, const Packet& packet)
{
    if (packet.IsDelivered())
    {
        m_parts.underWay.ArrivedAgain(packet.Item());
    }
    else
    {
        m_parts.underWay.Arrived(packet.Item());
    }
}

void LayerEnd::Opened()
{
    // Without pacing it is never closed.
}

void LayerEnd::GaveUp(ServiceId service, std::uint16_t sequence)
{
    m_other->m_layer->PeerGaveUp(service, sequence);
}

std::span<const std::uint8_t> LayerEnd::BytesOf(const Packet& packet) const
{
    return m_parts.underWay.WholeFrame(packet.Item());
}

void LayerEnd::Keep(const Packet& packet)
{
    m_parts.underWay.Keep(packet.Item());
}

} // namespace netboxit::link_layer
