// SPDX-License-Identifier: GPL-2.0-or-later
#include "go_back_n.h"

namespace netboxit::multiservice
{

GoBackN::GoBackN(ServicePort& port, const Json& settings)
    : ArqService(port, Settings::Of(settings, port.Facts())),
      m_timer(port.Time(), [this] { Expired(); })
{
}

void GoBackN::Begin(Number)
{
    SendNext();
}

void GoBackN::FrameDeparted(const AirFrame& frame)
{
    ArqService::FrameDeparted(frame);
    if (frame.type == FrameType::Data)
    {
        m_isWaiting = false;
        SendNext();
    }
}

void GoBackN::SendNext()
{
    if (m_isWaiting || m_turn == m_next)
    {
        return;
    }
    const auto number = m_turn;
    m_turn = m_space.Next(m_turn);
    const bool isNew = number == m_unsent;
    m_unsent = isNew ? m_turn : m_unsent;
    m_isWaiting = Transmit(number, !isNew);
}

void GoBackN::TakeData(const AirFrame& frame)
{
    if (frame.sequence != m_expected)
    {
        // Ahead of the one that is missing, or behind it.
        const bool isAhead = m_space.Distance(m_expected, frame.sequence) < m_space.Half();
        m_discards = m_discards || isAhead;
        m_statistics.duplicates += isAhead ? 0 : 1;
        return;
    }
    m_expected = m_space.Next(m_expected);
    const auto later = m_discards ? RoundTrip() : 0;
    m_discards = false;
    Deliver(frame.payload, later);
}

void GoBackN::DataDeparted(Number number)
{
    if (number == m_base)
    {
        RestartTimer();
    }
}

void GoBackN::WindowMoved()
{
    if (m_space.Distance(m_base, m_turn) > Outstanding())
    {
        m_turn = m_base; // they were acknowledged before they were sent again
    }
    SendNext(); // the scheduler may have refused the last one
    RestartTimer();
}

void GoBackN::TimerFactorChanged()
{
    RestartTimer();
}

void GoBackN::RestartTimer()
{
    const auto& oldest = m_sent[m_base];
    if (m_turn == m_base || oldest.waiting > 0)
    {
        m_timer.Stop(); // it begins when that one departs, if there is one
        return;
    }
    m_timer.StartAt(oldest.departed + Timeout());
}

void GoBackN::Expired()
{
    ++m_statistics.timeouts;
    m_turn = m_base;
    SendNext();
}

} // namespace netboxit::multiservice
