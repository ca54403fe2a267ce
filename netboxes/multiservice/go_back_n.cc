// SPDX-License-Identifier: GPL-2.0-or-later
#include "go_back_n.h"

namespace netboxit::multiservice
{

GoBackN::GoBackN(ServicePort& port, const Json& settings)
    : ArqService(port, Settings::Of(settings, port.Facts())),
      m_timer(port.Time(), [this] { Expired(); })
{
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
    // While the first one waits, what departs before it is of no use.
    if (number == m_base || (!m_timer.IsRunning() && m_sent[m_base].waiting == 0))
    {
        StartTimer();
    }
}

void GoBackN::WindowMoved()
{
    Outstanding() == 0 ? m_timer.Stop() : StartTimer();
}

void GoBackN::TimerFactorChanged()
{
    if (m_timer.IsRunning())
    {
        m_timer.StartAt(m_started + Timeout());
    }
}

void GoBackN::StartTimer()
{
    m_started = m_port.Time().Now();
    m_timer.StartAt(m_started + Timeout());
}

void GoBackN::Expired()
{
    if (m_sent[m_base].waiting > 0)
    {
        return; // and all others behind it
    }
    ++m_statistics.timeouts;
    const auto end = m_next;
    for (auto number = m_base; number != end; number = m_space.Next(number))
    {
        Transmit(number, true); // also where it waits: it goes too early
    }
}

} // namespace netboxit::multiservice
