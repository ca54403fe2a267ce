// SPDX-License-Identifier: GPL-2.0-or-later
#include "arq_service.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace netboxit::multiservice
{

ArqService::Settings ArqService::Settings::Of(const Json& json, const LinkFacts& facts)
{
    const SchemeSettings settings(json, facts);
    const auto bits = settings.SequenceBits();
    const bool repeatsFirst = settings.FlagOr("repeats_first", false);
    return {.sequenceBits = bits,
            .window = settings.HalfOf("window", bits),
            .timer = settings.Timer("timer", HeaderFormat{HeaderFields::Arq, bits}.Bytes()),
            .ackDelay = settings.Time("ack_delay"),
            // Acknowledgements of frames that were overtaken would go back.
            .hasFreshAcks = repeatsFirst || settings.FlagOr("fresh_acks", false),
            .repeatsFirst = repeatsFirst};
}

ArqService::ArqService(ServicePort& port, const Settings& settings)
    : Service(port, {HeaderFields::Arq, settings.sequenceBits}),
      m_settings(settings),
      m_space(settings.sequenceBits),
      m_sent(std::bit_ceil(settings.window)),
      m_widest(settings.window),
      m_acknowledging(port.Time(), [this] { SendAcknowledgement(); })
{
}

void ArqService::Set(const Json& settings)
{
    m_settings = Settings::Of(settings, m_port.Facts());
    m_widest = std::max(m_widest, m_settings.window);
    if (m_settings.window > m_sent.Capacity())
    {
        Grow(std::bit_ceil(m_settings.window));
    }
    TimerFactorChanged();
}

void ArqService::Grow(std::size_t capacity)
{
    m_sent.Grow(capacity, m_space, m_base);
}

void ArqService::HandOver(const Service& peer, const std::function<void(const Packet&)>& give)
{
    const auto arrived = m_space.Distance(m_base, dynamic_cast<const ArqService&>(peer).m_expected);
    for (auto number = arrived; number < Outstanding(); ++number)
    {
        give(m_sent[m_space.Plus(m_base, number)].packet);
    }
}

Json ArqService::Read() const
{
    return {{"window", m_settings.window}, {"outstanding", Outstanding()}};
}

void ArqService::TakePacket(const Packet& packet)
{
    if (!HasRoom())
    {
        Refuse(packet, Drop::WindowFull);
        return;
    }
    const auto number = m_next;
    m_next = m_space.Next(m_next);
    m_sent[number] = {packet};
    Begin(number);
}

void ArqService::TakeFrame(const AirFrame& frame)
{
    switch (frame.type)
    {
    case FrameType::Data:
        TakeAcknowledgement(frame.acknowledgement);
        TakeData(frame);
        if (!m_acknowledging.IsRunning())
        {
            m_acknowledging.Start(m_settings.ackDelay);
        }
        break;
    case FrameType::Ack:
        TakeAcknowledgement(frame.acknowledgement);
        break;
    case FrameType::Nak:
        TakeNak(frame);
        break;
    default:
        break;
    }
}

void ArqService::Departs(AirFrame& frame) const
{
    if (m_settings.hasFreshAcks)
    {
        frame.acknowledgement = m_expected;
    }
}

void ArqService::FrameDeparted(const AirFrame& frame)
{
    if (frame.type != FrameType::Data || !IsOutstanding(frame.sequence))
    {
        return;
    }
    // It may be acknowledged already, by an earlier transmission, and another one may have its number.
    auto& sent = m_sent[frame.sequence];
    if (sent.waiting > 0 && sent.packet == frame.payload)
    {
        --sent.waiting;
        sent.departed = m_port.Time().Now();
        DataDeparted(frame.sequence);
    }
}

void ArqService::TakeAcknowledgement(Number number)
{
    const auto acknowledged = m_space.Distance(m_base, number);
    if (acknowledged == 0 || acknowledged > Outstanding())
    {
        return; // an old one
    }
    for (; m_base != number; m_base = m_space.Next(m_base))
    {
        m_sent[m_base].packet = {};
        Acknowledged(m_base);
    }
    WindowMoved();
}

bool ArqService::Transmit(Number number, bool isRetransmission)
{
    auto& sent = m_sent[number];
    auto frame = NewFrame(FrameType::Data);
    frame.sequence = number;
    frame.acknowledgement = m_expected;
    frame.isRetransmission = isRetransmission;
    frame.isUrgent = isRetransmission && m_settings.repeatsFirst;
    frame.payload = sent.packet;
    m_acknowledging.Stop();
    ++sent.waiting;
    if (m_port.Emit(std::move(frame)))
    {
        return true;
    }
    --sent.waiting;
    sent.departed = m_port.Time().Now();
    DataDeparted(number);
    return false;
}

void ArqService::SendAcknowledgement()
{
    auto frame = NewFrame(FrameType::Ack);
    frame.acknowledgement = m_expected;
    frame.isUrgent = m_settings.repeatsFirst;
    m_port.Emit(std::move(frame));
}

} // namespace netboxit::multiservice
