// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../engine/segment.h"
#include "../queueing/discipline.h"

namespace netboxit::errors
{

/// Gilbert's and Elliott's channel (Bell System Technical Journal 39, 1960, and 42, 1963; here as in Hasslinger and Hohlfeld, 2008): two states,
/// left with each frame by a probability, and a probability of loss in each. With both states alike, losses are independent.
class GilbertElliott
{
  public:
    explicit GilbertElliott(queueing::Chance chance);

    /// As parameters.py dumps it.
    void Set(const Json& value);
    /// Whether the next frame is lost.
    bool IsLost();
    /// Whether it is lost when losses are independent and this probable: what a trace says instead of the states.
    bool IsLost(double probability);

  private:
    queueing::Chance m_chance;
    double m_goodToBad{0};
    double m_badToGood{1};
    double m_lossInGood{0};
    double m_lossInBad{0};
    bool m_bad{false};
};

} // namespace netboxit::errors
