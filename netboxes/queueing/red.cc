// SPDX-License-Identifier: GPL-2.0-or-later
#include "red.h"

#include <cmath>

namespace netboxit::queueing
{

void Red::Enqueue(const Waiting& frame, std::int64_t now, double rate)
{
    if (Waits().IsEmpty())
    {
        const double couldHaveSent = static_cast<double>(now - m_emptySince) / 1e9 * rate / (8 * TYPICAL_PACKET);
        m_mean *= std::pow(1 - m_settings.weight, couldHaveSent);
    }
    else
    {
        m_mean += m_settings.weight * (static_cast<double>(Waits().Packets()) - m_mean);
    }
    const auto verdict = Judge();
    const bool isMarked = verdict == Verdict::Signals && HasRoomFor(frame, rate) && m_mark(frame, Mark::Early);
    if (verdict != Verdict::Takes && !isMarked)
    {
        Drop(frame, Loss::QueueEarly);
        return;
    }
    Fifo::Enqueue(frame, now, rate);
}

Red::Verdict Red::Judge()
{
    const auto& [minimum, maximum, most, weight] = m_settings;
    if (m_mean < minimum)
    {
        m_sinceSignal = -1;
        return Verdict::Takes;
    }
    ++m_sinceSignal;
    const double probability = m_mean < maximum ? most * (m_mean - minimum) / (maximum - minimum)
                                                : most + (1 - most) * (m_mean - maximum) / maximum;
    if (probability >= 1)
    {
        m_sinceSignal = 0;
        return Verdict::Drops;
    }
    // So that the distances between signals are uniformly distributed.
    const double spread = static_cast<double>(m_sinceSignal) * probability;
    if (spread < 1 && m_chance() >= probability / (1 - spread))
    {
        return Verdict::Takes;
    }
    m_sinceSignal = 0;
    return Verdict::Signals;
}

std::optional<Waiting> Red::Dequeue(std::int64_t now)
{
    const auto frame = Fifo::Dequeue(now);
    m_emptySince = Waits().IsEmpty() ? now : m_emptySince;
    return frame;
}

} // namespace netboxit::queueing
