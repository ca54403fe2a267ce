// SPDX-License-Identifier: GPL-2.0-or-later
#include "rlp.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace netboxit::multiservice
{

namespace
{

constexpr unsigned MOST_ATTEMPTS = 100;

/// How long the gap of a lost frame stays unseen while frames follow each other, ns.
std::int64_t Detection(const LinkFacts& facts, std::uint8_t headerBytes)
{
    return facts.delay + facts.TimeOf(facts.framePayload + headerBytes);
}

/// How long all frames of a ring are in transmission, ns.
std::int64_t RingTime(const LinkFacts& facts, std::uint8_t headerBytes, std::uint32_t ring)
{
    return ring * facts.TimeOf(facts.framePayload + headerBytes);
}

} // namespace

Rlp::Settings Rlp::Settings::Of(const Json& json, const LinkFacts& facts)
{
    const SchemeSettings settings(json, facts);
    const auto bits = settings.SequenceBits();
    const auto headerBytes = HeaderFormat{HeaderFields::Sequence, bits}.Bytes();
    const Settings read{.sequenceBits = bits,
                        .ring = settings.HalfOf("ring", bits),
                        .attempts = settings.Integer("attempts", 1, MOST_ATTEMPTS),
                        .timer = settings.Timer("timer", headerBytes),
                        .keepalive = settings.Time("keepalive"),
                        .repeatsFirst = settings.FlagOr("repeats_first", false)};
    // The safety condition of section 4.2.2.
    const auto longest = RingTime(facts, headerBytes, read.ring) - Detection(facts, headerBytes);
    if (read.attempts * read.timer >= longest)
    {
        settings.Refuse("timer",
                        "below " + std::to_string(static_cast<double>(longest) / read.attempts / stages::NS_PER_S) + " s with " +
                            std::to_string(read.attempts) + " attempts: the link can send all " + std::to_string(read.ring) +
                            " frames of the ring before the receiver gives one up; say less, fewer attempts, or a longer ring");
    }
    return read;
}

Rlp::Rlp(ServicePort& port, const Json& settings) : Rlp(port, Settings::Of(settings, port.Facts()))
{
}

Rlp::Rlp(ServicePort& port, const Settings& settings)
    : Service(port, {HeaderFields::Sequence, settings.sequenceBits}),
      m_settings(settings),
      m_space(settings.sequenceBits),
      m_ring(std::bit_ceil(settings.ring)),
      m_keepalive(port.Time(), [this] { SendKeepalive(); }),
      m_window(std::bit_ceil(settings.ring)),
      m_named(m_space.Size()),
      m_timer(port.Time(), [this] { Expired(); }),
      m_heard(port.Time().Now())
{
}

void Rlp::Set(const Json& settings)
{
    const auto before = m_settings.ring;
    m_settings = Settings::Of(settings, m_port.Facts());
    for (auto age = m_settings.ring + 1; age <= before; ++age)
    {
        Forget(m_space.Before(m_next, age));
    }
    const auto capacity = std::bit_ceil(m_settings.ring);
    if (capacity > m_ring.Capacity())
    {
        m_ring.Grow(capacity, m_space, m_space.Before(m_next, static_cast<std::uint32_t>(m_ring.Capacity())));
        m_window.Grow(capacity, m_space, m_released);
    }
    TimerFactorChanged();
}

void Rlp::HandOver(const Service& peer, const std::function<void(const Packet&)>& give)
{
    const auto& receiver = dynamic_cast<const Rlp&>(peer);
    // What is not in the ring any more would not have been repeated either.
    const auto waiting = std::min<std::uint32_t>(m_space.Distance(receiver.m_released, m_next), m_settings.ring);
    for (auto number = m_space.Before(m_next, waiting); number != m_next; number = m_space.Next(number))
    {
        if (receiver.Needs(number) && m_ring[number])
        {
            give(m_ring[number]);
        }
    }
}

void Rlp::PeerGaveUp(std::uint16_t sequence)
{
    if (m_space.Distance(sequence, m_next) <= m_settings.ring)
    {
        Forget(sequence);
    }
}

void Rlp::Forget(Number number)
{
    if (m_ring[number])
    {
        m_ring[number].Blame(Drop::GivenUp);
        m_ring[number] = {};
    }
}

Json Rlp::Read() const
{
    const auto& facts = m_port.Facts();
    const auto headerBytes = Format().Bytes();
    // Timers are inflated while other services share the link, and the safety condition knows nothing of those.
    const bool isSafe = Detection(facts, headerBytes) + m_settings.attempts * Inflated(m_settings.timer) <
                        RingTime(facts, headerBytes, m_settings.ring);
    return {{"missing", m_missing}, {"unanswered_naks", m_unanswered}, {"restarts", m_restarts}, {"is_safe", isSafe}};
}

void Rlp::TakePacket(const Packet& packet)
{
    if (!HasRoom())
    {
        Refuse(packet, Drop::QueueFull);
        return;
    }
    const auto number = m_next;
    m_next = m_space.Next(m_next);
    Forget(m_space.Before(number, m_settings.ring));
    m_ring[number] = packet;
    auto frame = NewFrame(FrameType::Data);
    frame.sequence = number;
    frame.payload = packet;
    m_waiting += m_port.Emit(std::move(frame)) ? 1 : 0;
    m_keepalive.Start(m_settings.keepalive);
}

void Rlp::TakeFrame(const AirFrame& frame)
{
    const auto now = m_port.Time().Now();
    const auto silence = now - m_heard;
    m_heard = now;
    if (frame.type == FrameType::Data && silence >= RingTime(m_port.Facts(), frame.headerBytes, m_settings.ring) &&
        !IsMissing(frame.sequence) && !IsAhead(frame.sequence))
    {
        Restart(frame.sequence);
    }
    switch (frame.type)
    {
    case FrameType::Data:
        TakeData(frame);
        break;
    case FrameType::Nak:
        Repeat(frame.sequence);
        break;
    case FrameType::KeepAlive:
        if (IsAhead(frame.sequence))
        {
            OpenGap(m_space.Next(frame.sequence));
        }
        break;
    default:
        break;
    }
}

void Rlp::FrameDeparted(const AirFrame& frame)
{
    if (frame.type == FrameType::Nak && IsMissing(frame.sequence))
    {
        StartTimer(frame.sequence);
    }
    m_waiting -= frame.type == FrameType::Data && !frame.isRetransmission ? 1 : 0;
    m_keepaliveWaits = m_keepaliveWaits && frame.type != FrameType::KeepAlive;
}

void Rlp::TimerFactorChanged()
{
    if (const auto first = m_named.Front())
    {
        m_timer.StartAt(m_window[static_cast<Number>(*first)].named + Inflated(m_settings.timer));
    }
    else
    {
        m_timer.Stop(); // it ran for frames that have come
    }
}

void Rlp::Repeat(Number number)
{
    const auto age = m_space.Distance(number, m_next);
    if (age == 0 || age > m_settings.ring || !m_ring[number])
    {
        ++m_unanswered;
        return;
    }
    auto frame = NewFrame(FrameType::Data);
    frame.sequence = number;
    frame.isRetransmission = true;
    frame.isUrgent = m_settings.repeatsFirst;
    frame.payload = m_ring[number];
    m_port.Emit(std::move(frame));
}

void Rlp::SendKeepalive()
{
    m_keepalive.Start(m_settings.keepalive);
    if (m_keepaliveWaits)
    {
        return;
    }
    auto frame = NewFrame(FrameType::KeepAlive);
    frame.sequence = m_space.Before(m_next);
    m_keepaliveWaits = m_port.Emit(std::move(frame));
}

void Rlp::TakeData(const AirFrame& frame)
{
    const auto number = frame.sequence;
    if (IsMissing(number))
    {
        auto& expected = m_window[number];
        expected.isMissing = false;
        --m_missing;
        m_named.Remove(number);
        Take(expected, frame.payload, RoundTrip() * std::max(expected.naks, 1U));
    }
    else if (IsAhead(number))
    {
        OpenGap(number);
        Expect();
        Take(m_window[number], frame.payload, 0);
    }
    else
    {
        ++m_statistics.duplicates;
    }
    Release();
}

void Rlp::Take(Expected& expected, const Packet& packet, std::int64_t later)
{
    expected.packet = packet;
    expected.later = later;
}

void Rlp::OpenGap(Number end)
{
    while (m_expected != end)
    {
        const auto number = m_expected;
        Expect();
        m_window[number].isMissing = true;
        ++m_missing;
        SendNak(number);
    }
}

void Rlp::Expect()
{
    if (m_space.Distance(m_released, m_expected) == m_window.Capacity())
    {
        GiveUp(m_released);
        Release();
    }
    m_window[m_expected] = {};
    m_expected = m_space.Next(m_expected);
}

void Rlp::SendNak(Number number)
{
    ++m_window[number].naks;
    m_named.Remove(number);
    auto frame = NewFrame(FrameType::Nak);
    frame.sequence = number;
    frame.isUrgent = m_settings.repeatsFirst;
    if (!m_port.Emit(std::move(frame)))
    {
        StartTimer(number);
    }
}

void Rlp::StartTimer(Number number)
{
    m_window[number].named = m_port.Time().Now();
    m_named.MoveToBack(number);
    if (!m_timer.IsRunning())
    {
        m_timer.Start(Inflated(m_settings.timer));
    }
}

void Rlp::Expired()
{
    const auto now = m_port.Time().Now();
    while (const auto first = m_named.Front())
    {
        const auto number = static_cast<Number>(*first);
        const auto expiry = m_window[number].named + Inflated(m_settings.timer);
        if (expiry > now)
        {
            m_timer.StartAt(expiry);
            break;
        }
        ++m_statistics.timeouts;
        m_window[number].naks < m_settings.attempts ? SendNak(number) : GiveUp(number);
    }
    Release();
}

void Rlp::GiveUp(Number number)
{
    m_named.Remove(number);
    m_window[number].isMissing = false;
    --m_missing;
    ++m_statistics.lost;
    m_port.GaveUp(number);
}

void Rlp::Release()
{
    while (m_released != m_expected && !m_window[m_released].isMissing)
    {
        const auto packet = std::exchange(m_window[m_released].packet, {});
        const auto later = m_window[m_released].later;
        m_released = m_space.Next(m_released);
        if (packet)
        {
            Deliver(packet, later);
        }
    }
}

void Rlp::Restart(Number next)
{
    ++m_restarts;
    for (auto number = m_released; number != m_expected; number = m_space.Next(number))
    {
        if (m_window[number].isMissing)
        {
            GiveUp(number);
        }
    }
    Release();
    m_released = m_expected = next;
}

bool Rlp::Needs(Number number) const
{
    const auto& expected = m_window[number];
    return m_space.Distance(m_released, number) < m_space.Distance(m_released, m_expected)
               ? expected.isMissing || static_cast<bool>(expected.packet)
               : IsAhead(number);
}

} // namespace netboxit::multiservice
