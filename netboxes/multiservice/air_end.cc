// SPDX-License-Identifier: GPL-2.0-or-later
#include "air_end.h"

#include "../queueing/chance.h"

#include "../link_layer/frame_codec.h"

namespace netboxit::multiservice
{

namespace
{

/// The frame as its receiver reads it: from the bytes of its header. What only accounts know of it stays.
AirFrame ThroughBytes(const AirFrame& frame, const HeaderFormat& format)
{
    std::array<std::uint8_t, LONGEST_HEADER> header{};
    const auto length = EncodeHeader(frame, format, header);
    auto read = DecodeHeader(Bytes(header).first(length), format).value();
    read.generation = frame.generation;
    read.standsAlone = frame.standsAlone;
    read.isRetransmission = frame.isRetransmission;
    read.payload = frame.payload;
    return read;
}

} // namespace

AirEnd::AirEnd(const SegmentSetup& setup, StationId id, const AirParts& parts, const Json& queue)
    : m_id(id), m_frames(setup.frames), m_parts(parts), m_services(setup.classes.size()),
      m_queue(
          queue,
          queueing::ChanceOf(STREAMS * id),
          [&fates = setup.fates, id](const Waiting& waiting, Loss reason) { fates.Lose(waiting.slot, 1 - id, reason); },
          [this](const Waiting& waiting) { return m_frames.MarkCongestion(waiting.slot, 1 - m_id); }),
      m_errors(queueing::ChanceOf(STREAMS * id + 1), queueing::ChanceOf(STREAMS * id + 2)),
      m_sent(parts.timebase.MakeAlarm([this] { m_layer->TransmitComplete(); })),
      m_arrives(parts.timebase.MakeAlarm([this] { Arrive(); }))
{
}

void AirEnd::Begin(const Json& layer, const LinkFacts& facts, LinkEnd end, AirEnd& other)
{
    m_facts = facts;
    m_other = &other;
    m_layer = std::make_unique<MultiServiceLink>(layer, facts, end, m_parts.timebase, *this);
}

void AirEnd::Send(const Frame& frame)
{
    const auto bytes = m_frames.Read(frame.slot);
    const Waiting waiting{frame.slot, frame.trafficClass, m_parts.accounting.PacketBytes(frame, bytes)};
    m_queue.Enqueue(waiting, {waiting.bytes, frame.trafficClass, bytes}, m_parts.timebase.Now(), m_facts.rate);
    Feed();
}

void AirEnd::Feed()
{
    while (m_layer->IsOpen())
    {
        if (!m_sending)
        {
            const auto waiting = m_queue.Dequeue(m_parts.timebase.Now());
            if (!waiting)
            {
                return;
            }
            const auto pieces = m_parts.accounting.Pieces(waiting->bytes);
            m_sending = Sending{*waiting, m_parts.underWay.Begin(waiting->slot, 1 - m_id, pieces), pieces};
        }
        SendPiece();
    }
}

void AirEnd::SendPiece()
{
    const auto& [waiting, item, pieces, next] = *m_sending;
    m_layer->Send(m_services[waiting.trafficClass],
                  m_parts.pool.Take(item, m_parts.accounting.PieceBytes(waiting.bytes, next)));
    ++m_sending->next;
    if (next == pieces)
    {
        m_sending.reset();
    }
    else if (m_parts.underWay.IsLost(item))
    {
        m_parts.underWay.Withhold(item, pieces - next);
        m_sending.reset();
    }
}

void AirEnd::Transmit(const AirFrame& frame)
{
    const auto now = m_parts.timebase.Now();
    const auto bytes = frame.Bytes() + m_parts.overhead;
    const auto end = now + m_facts.TimeOf(bytes);
    // The channel goes on also while the link is down.
    const bool isHit = m_errors.IsLost({now, end, bytes});
    const bool isDamaged = isHit || !m_isUp;
    const auto arrival = std::max(end + m_facts.delay, m_air.empty() ? 0 : m_air.back().arrival);
    const bool isReal = m_parts.accounting.IsReal();
    m_air.push_back({arrival, isReal ? ThroughBytes(frame, m_layer->FormatOf(frame.service)) : frame, isDamaged});
    if (m_air.size() == 1)
    {
        m_arrives->Set(arrival);
    }
    m_sent->Set(end);
    ++m_counters.sent;
    m_counters.sentBytes += bytes;
    m_counters.damaged += isDamaged;
    m_counters.sending += end - now;
}

void AirEnd::Arrive()
{
    while (!m_air.empty() && m_air.front().arrival <= m_parts.timebase.Now())
    {
        const auto [arrival, frame, isDamaged] = std::move(m_air.front());
        m_air.pop_front();
        if (isDamaged)
        {
            m_other->m_layer->Damaged(frame);
        }
        else
        {
            m_other->m_layer->Receive(frame);
        }
    }
    if (!m_air.empty())
    {
        m_arrives->Set(m_air.front().arrival);
    }
}

void AirEnd::Deliver(ServiceId, const Packet& packet)
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

void AirEnd::Opened()
{
    Feed();
}

void AirEnd::GaveUp(ServiceId service, std::uint16_t sequence)
{
    m_other->m_layer->PeerGaveUp(service, sequence);
}

std::span<const std::uint8_t> AirEnd::BytesOf(const Packet& packet) const
{
    return m_parts.underWay.WholeFrame(packet.Item());
}

void AirEnd::Keep(const Packet& packet)
{
    m_parts.underWay.Keep(packet.Item());
}

void AirEnd::SetServices(std::vector<ServiceId> ofClasses)
{
    m_services = std::move(ofClasses);
}

void AirEnd::SetFacts(const LinkFacts& facts)
{
    m_facts = facts;
    m_layer->SetFacts(facts);
}

void AirEnd::SetQueue(const Json& queue)
{
    m_queue.Set(queue, m_parts.timebase.Now(), m_facts.rate);
}

void AirEnd::SetErrors(const Json& errors)
{
    m_errors.Set(errors, m_parts.timebase.Now());
}

void AirEnd::SetUp(bool isUp)
{
    m_isUp = isUp;
}

void AirEnd::BeginTime()
{
    m_errors.Begin(m_parts.timebase.Now());
}

Json AirEnd::Read()
{
    return {{"up", m_isUp},
            {"rate", m_facts.rate},
            {"delay_s", static_cast<double>(m_facts.delay) / 1e9},
            {"queue", m_queue.Read(m_parts.timebase.Now())},
            {"waiting_bytes", m_layer->QueuedBytes()},
            {"frames_sent", m_counters.sent},
            {"frames_damaged", m_counters.damaged},
            {"sent_bytes", m_counters.sentBytes},
            {"sending_s", static_cast<double>(m_counters.sending) / 1e9}};
}

void AirEnd::Reset()
{
    m_queue.ResetStatistics(m_parts.timebase.Now());
    m_layer->ResetStatistics();
    m_counters = {};
}

} // namespace netboxit::multiservice
