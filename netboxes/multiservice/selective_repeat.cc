// SPDX-License-Identifier: GPL-2.0-or-later
#include "selective_repeat.h"

#include <algorithm>
#include <utility>

namespace netboxit::multiservice
{

SelectiveRepeat::SelectiveRepeat(ServicePort& port, const Json& settings)
    : ArqService(port, Settings::Of(settings, port.Facts())),
      m_stored(m_sent.Capacity()),
      m_departed(m_space.Size()),
      m_timer(port.Time(), [this] { Expired(); })
{
}

Json SelectiveRepeat::Read() const
{
    auto read = ArqService::Read();
    read["stored"] = m_held;
    return read;
}

void SelectiveRepeat::TakeData(const AirFrame& frame)
{
    const auto number = frame.sequence;
    if (m_space.Distance(m_expected, number) >= m_stored.Capacity() || !IsMissing(number))
    {
        ++m_statistics.duplicates;
        return;
    }
    const auto highest = m_highest;
    const bool isNew = m_space.Distance(m_expected, number) >= m_space.Distance(m_expected, highest);
    if (isNew)
    {
        for (auto missing = highest; missing != number; missing = m_space.Next(missing))
        {
            m_stored[missing].wasMissing = true;
        }
        m_highest = m_space.Next(number);
    }
    NameMissing(number, highest);
    auto& stored = m_stored[number];
    stored.packet = frame.payload;
    stored.isStored = true;
    ++m_held;
    Release();
}

void SelectiveRepeat::NameMissing(Number arrived, Number)
{
    if (arrived != m_expected && !m_isNamed)
    {
        m_isNamed = true;
        SendNak(m_expected);
    }
}

void SelectiveRepeat::Release()
{
    while (m_stored[m_expected].isStored)
    {
        const auto stored = std::exchange(m_stored[m_expected], {});
        m_expected = m_space.Next(m_expected);
        m_isNamed = false;
        --m_held;
        Deliver(stored.packet, stored.wasMissing ? RoundTrip() * std::max(stored.naks, 1U) : 0);
    }
}

void SelectiveRepeat::SendNak(Number number)
{
    ++m_stored[number].naks;
    auto frame = NewFrame(FrameType::Nak);
    frame.sequence = number;
    frame.acknowledgement = m_expected;
    m_port.Emit(std::move(frame));
}

void SelectiveRepeat::SendNaks(Number from, Number end)
{
    for (; from != end; from = m_space.Next(from))
    {
        SendNak(from);
    }
}

void SelectiveRepeat::TakeNak(const AirFrame& frame)
{
    TakeAcknowledgement(frame.sequence);
    Repeat(frame.sequence);
}

void SelectiveRepeat::Repeat(Number number)
{
    if (!IsOutstanding(number))
    {
        return;
    }
    m_departed.Remove(number);
    if (m_sent[number].waiting == 0) // the scheduler has it already otherwise
    {
        Transmit(number, true);
    }
}

void SelectiveRepeat::DataDeparted(Number number)
{
    m_departed.MoveToBack(number);
    if (!m_timer.IsRunning())
    {
        m_timer.StartAt(m_sent[number].departed + Timeout());
    }
}

void SelectiveRepeat::Acknowledged(Number number)
{
    m_departed.Remove(number);
}

void SelectiveRepeat::TimerFactorChanged()
{
    if (const auto first = m_departed.Front())
    {
        m_timer.StartAt(m_sent[static_cast<Number>(*first)].departed + Timeout());
    }
}

void SelectiveRepeat::Grow(std::size_t capacity)
{
    ArqService::Grow(capacity);
    m_stored.Grow(capacity, m_space, m_expected);
}

void SelectiveRepeat::Expired()
{
    const auto now = m_port.Time().Now();
    while (const auto first = m_departed.Front())
    {
        const auto number = static_cast<Number>(*first);
        const auto expiry = m_sent[number].departed + Timeout();
        if (expiry > now)
        {
            m_timer.StartAt(expiry);
            return;
        }
        ++m_statistics.timeouts;
        Repeat(number);
    }
}

} // namespace netboxit::multiservice
