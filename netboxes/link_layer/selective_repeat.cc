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
    if (m_space.Distance(m_expected, number) >= m_widest || !IsMissing(number))
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
    frame.isUrgent = m_settings.repeatsFirst;
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
    SendAgain(number);
}

void SelectiveRepeat::SendAgain(Number number)
{
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
        m_timer.StartAt(ExpiryOf(number));
    }
}

void SelectiveRepeat::Acknowledged(Number number)
{
    m_departed.Remove(number);
}

void SelectiveRepeat::TimerFactorChanged()
{
    if (m_departed.Front())
    {
        m_timer.StartAt(m_port.Time().Now()); // looks at all
    }
    else
    {
        m_timer.Stop(); // it ran for frames that have been acknowledged
    }
}

void SelectiveRepeat::Grow(std::size_t capacity)
{
    ArqService::Grow(capacity);
    m_stored.Grow(capacity, m_space, m_expected);
}

std::int64_t SelectiveRepeat::ExpiryOf(Number number) const
{
    return m_sent[number].departed + Timeout();
}

void SelectiveRepeat::Expired()
{
    const auto now = m_port.Time().Now();
    auto next = m_departed.Front();
    while (next)
    {
        const auto number = static_cast<Number>(*next);
        next = m_departed.After(*next);
        if (ExpiryOf(number) > now)
        {
            m_timer.StartAt(ExpiryOf(number)); // all others expire later
            return;
        }
        ++m_statistics.timeouts;
        SendAgain(number);
    }
}

} // namespace netboxit::multiservice
