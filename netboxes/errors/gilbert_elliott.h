// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "error_model.h"

namespace netboxit::errors
{

/// Gilbert's and Elliott's channel (Bell System Technical Journal 39, 1960, and 42, 1963; here as in Hasslinger and Hohlfeld,
/// 2008): two states, left with each frame by a probability, and a probability of loss in each.
class GilbertElliott : public ErrorModel
{
  public:
    explicit GilbertElliott(queueing::Chance chance);

    bool IsLost(const Transmission&) override;
    void Set(const Json& value, std::int64_t now) override;

  private:
    queueing::Chance m_chance;
    double m_goodToBad{0};
    double m_badToGood{1};
    double m_lossInGood{0};
    double m_lossInBad{0};
    bool m_bad{false};
};

} // namespace netboxit::errors
