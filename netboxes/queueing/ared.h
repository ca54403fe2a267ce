// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "red.h"

namespace netboxit::queueing
{

/// Adaptive RED (Floyd, Gummadi and Shenker, "Adaptive RED: An Algorithm for Increasing the Robustness of RED's Active Queue Management",
/// 2001): thresholds and weight follow from the rate and a delay that is aimed at, and the probability is adapted such that the mean length
/// stays half-way between the thresholds.
class Ared : public Red
{
  public:
    /// s: the delay that is aimed at, and the time between adaptations.
    Ared(Room room, double target, double interval, Chance chance, DropCallback dropped, MarkCallback mark);

    void Enqueue(const Waiting& frame, std::int64_t now, double rate) override;

  private:
    void Follow(double rate);
    void Adapt();

    double m_target;
    std::int64_t m_interval; ///< ns
    double m_rate{-1};       ///< bit/s, to which the settings belong
    std::int64_t m_nextAdaptation{-1};
};

} // namespace netboxit::queueing
