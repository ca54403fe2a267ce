// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "error_model.h"
#include "fades.h"

namespace netboxit::errors
{

/// Fades in time with a bit error rate in each state, where a single wrong bit loses the frame. A frame that the channel turns
/// in has the rate of each part in that part (Xylomenos 1999, 3.2.2).
class TwoState : public ErrorModel
{
  public:
    TwoState(queueing::Chance chance, queueing::Chance ofFades);

    bool IsLost(const Transmission& frame) override;
    void Set(const Json& value, std::int64_t now) override;
    void Begin(std::int64_t now) override;

  private:
    queueing::Chance m_chance;
    Fades m_fades;
    /// Logarithms of the probability that a bit is right.
    double m_rightInGood{0};
    double m_rightInBad{0};
};

} // namespace netboxit::errors
