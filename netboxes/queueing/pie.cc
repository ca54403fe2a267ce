// SPDX-License-Identifier: GPL-2.0-or-later
#include "pie.h"

namespace netboxit::queueing
{

namespace
{

// RFC 8033, 4.2 and Appendix A.
constexpr double ALPHA = 0.125; ///< Hz
constexpr double BETA = 1.25;   ///< Hz
constexpr std::uint64_t MEAN_PACKET = 1000;
/// The probability above which it drops also what could be marked: mark_ecnth (5.1).
constexpr double MOST_MARKED = 0.1;

/// Small probabilities change by small steps (4.2).
double ScaleAt(double probability)
{
    double scale = 1;
    for (const auto& [below, divisor] :
         {std::pair{0.1, 2}, {0.01, 8}, {0.001, 32}, {0.0001, 128}, {0.00001, 512}, {0.000001, 2048}})
    {
        scale = probability < below ? 1.0 / divisor : scale;
    }
    return scale;
}

} // namespace

Pie::Pie(Room room, Settings settings, Chance chance, DropCallback dropped, MarkCallback mark)
    : Fifo(room, std::move(dropped)), m_settings(settings), m_chance(std::move(chance)), m_mark(std::move(mark)),
      m_burstLeft(settings.burst)
{
}

void Pie::Enqueue(const Waiting& frame, std::int64_t now, double rate)
{
    UpdateUntil(now);
    const bool mayMark = m_probability <= MOST_MARKED && HasRoomFor(frame, rate);
    if (SignalsEarly() && !(mayMark && m_mark(frame, Mark::Early)))
    {
        Drop(frame, Loss::QueueEarly);
        return;
    }
    Fifo::Enqueue(frame, now, rate);
}

bool Pie::SignalsEarly()
{
    if (m_probability == 0)
    {
        m_accumulated = 0;
    }
    const bool calm = m_oldDelay < m_settings.target / 2 && m_probability < 0.2;
    if (m_burstLeft > 0 || calm || Bytes() <= 2 * MEAN_PACKET)
    {
        return false;
    }
    // Signals are kept apart from one another, and not too far apart (5.4).
    m_accumulated += m_probability;
    if (m_accumulated < 0.85)
    {
        return false;
    }
    if (m_accumulated < 8.5 && m_chance() >= m_probability)
    {
        return false;
    }
    m_accumulated = 0;
    return true;
}

std::optional<Waiting> Pie::Dequeue(std::int64_t now)
{
    UpdateUntil(now);
    const auto frame = Fifo::Dequeue(now);
    m_delay = frame && !Waits().IsEmpty() ? static_cast<double>(now - frame->entered) / 1e9 : 0.0;
    return frame;
}

void Pie::UpdateUntil(std::int64_t now)
{
    const auto interval = static_cast<std::int64_t>(m_settings.interval * 1e9);
    if (m_nextUpdate < 0)
    {
        m_nextUpdate = now + interval;
    }
    for (; m_nextUpdate <= now; m_nextUpdate += interval)
    {
        // Long idle, nothing changes any more with further updates.
        if (m_probability == 0 && Waits().IsEmpty() && m_delay == 0 && m_oldDelay == 0)
        {
            m_burstLeft = m_settings.burst;
            m_nextUpdate = now + interval;
            return;
        }
        Update();
    }
}

void Pie::Update()
{
    double change = ALPHA * (m_delay - m_settings.target) + BETA * (m_delay - m_oldDelay);
    change *= ScaleAt(m_probability);
    if (m_probability >= 0.1 && change > 0.02)
    {
        change = 0.02;
    }
    m_probability += change;
    if (m_delay == 0 && m_oldDelay == 0)
    {
        m_probability *= 0.98;
    }
    m_probability = std::clamp(m_probability, 0.0, 1.0);
    m_burstLeft = std::max(m_burstLeft - m_settings.interval, 0.0);
    if (m_probability == 0 && m_delay < m_settings.target / 2 && m_oldDelay < m_settings.target / 2)
    {
        m_burstLeft = m_settings.burst;
    }
    m_oldDelay = m_delay;
}

} // namespace netboxit::queueing
