// SPDX-License-Identifier: GPL-2.0-or-later
#include "ared.h"

#include <cmath>

namespace netboxit::queueing
{

namespace
{

// Their section 4.
constexpr double LEAST_MINIMUM = 5;                        ///< packets
constexpr double MAXIMUM_BY_MINIMUM = 3;
constexpr double FIRST_PROBABILITY = 0.1;
constexpr double LEAST_PROBABILITY = 0.01;
constexpr double MOST_PROBABILITY = 0.5;
constexpr double MOST_INCREASE = 0.01;
constexpr double DECREASE = 0.9;
constexpr double BEGIN_OF_TARGET = 0.4; ///< of the way from minimum to maximum
constexpr double END_OF_TARGET = 0.6;

} // namespace

Ared::Ared(Room room, double target, double interval, Chance chance, DropCallback dropped, MarkCallback mark)
    : Red(room, {LEAST_MINIMUM, MAXIMUM_BY_MINIMUM * LEAST_MINIMUM, FIRST_PROBABILITY, 1},
          std::move(chance),
          std::move(dropped),
          std::move(mark)),
      m_target(target), m_interval(std::llround(interval * 1e9))
{
}

void Ared::Enqueue(const Waiting& frame, std::int64_t now, double rate)
{
    Follow(rate);
    if (m_nextAdaptation < 0)
    {
        m_nextAdaptation = now + m_interval;
    }
    // Of intervals without an arrival, in which the mean length is not known, one counts.
    if (now >= m_nextAdaptation)
    {
        Adapt();
        m_nextAdaptation += m_interval * ((now - m_nextAdaptation) / m_interval + 1);
    }
    Red::Enqueue(frame, now, rate);
}

/// Thresholds in packets, and a weight with which the mean length follows in about a second, of a link that sends typical packets.
void Ared::Follow(double rate)
{
    if (rate == m_rate || rate <= 0)
    {
        return;
    }
    m_rate = rate;
    const double packetsPerSecond = rate / (8 * TYPICAL_PACKET);
    auto& settings = Adapted();
    settings.minimum = std::max(LEAST_MINIMUM, m_target * packetsPerSecond / 2);
    settings.maximum = MAXIMUM_BY_MINIMUM * settings.minimum;
    settings.weight = 1 - std::exp(-1 / packetsPerSecond);
}

void Ared::Adapt()
{
    auto& settings = Adapted();
    const double way = settings.maximum - settings.minimum;
    auto& probability = settings.probability;
    if (Mean() > settings.minimum + END_OF_TARGET * way && probability <= MOST_PROBABILITY)
    {
        probability += std::min(MOST_INCREASE, probability / 4);
    }
    else if (Mean() < settings.minimum + BEGIN_OF_TARGET * way && probability >= LEAST_PROBABILITY)
    {
        probability *= DECREASE;
    }
}

} // namespace netboxit::queueing
