// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "error_model.h"
#include "fades.h"

namespace netboxit::errors
{

/// The channel of Gilbert and Elliott in continuous time: fades, and a probability that a frame is lost that begins in a good
/// or in a bad time.
class GilbertElliottInTime : public ErrorModel
{
  public:
    GilbertElliottInTime(queueing::Chance chance, queueing::Chance ofFades);

    bool IsLost(const Transmission& frame) override;
    void Set(const Json& value, std::int64_t now) override;
    void Begin(std::int64_t now) override;

  private:
    queueing::Chance m_chance;
    Fades m_fades;
    double m_lossInGood{0};
    double m_lossInBad{1};
};

} // namespace netboxit::errors
