// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "fifo.h"

namespace netboxit::queueing
{

/// PIE (RFC 8033), with queueing delays from time stamps (5.2): drops what comes with a probability that a controller keeps such that
/// frames wait for the target on the mean. While it is low it marks instead (5.1).
class Pie : public Fifo
{
  public:
    struct Settings
    {
        double target;   ///< s
        double interval; ///< between updates of the probability, s
        double burst;    ///< for so long a burst is let through, s
    };

    Pie(Room room, Settings settings, Chance chance, DropCallback dropped, MarkCallback mark);

    void Enqueue(const Waiting& frame, std::int64_t now, double rate) override;
    std::optional<Waiting> Dequeue(std::int64_t now) override;

  private:
    bool SignalsEarly();
    void UpdateUntil(std::int64_t now);
    void Update();

    Settings m_settings;
    Chance m_chance;
    MarkCallback m_mark;
    std::int64_t m_nextUpdate{-1};
    double m_delay{0};    ///< of the latest frame that went, s
    double m_oldDelay{0}; ///< at the last update
    double m_probability{0};
    double m_accumulated{0};
    double m_burstLeft;
};

} // namespace netboxit::queueing
