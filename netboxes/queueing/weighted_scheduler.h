// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "scheduler.h"

namespace netboxit::queueing
{

/// A scheduler whose lines' weights can change while they have packets.
class WeightedScheduler : public Scheduler
{
  public:
    /// The line weighs so much from now on, at least 1. What it got is not taken back, and its first packet goes by the new weight.
    virtual void Weigh(LineId line, std::uint32_t weight) = 0;
};

} // namespace netboxit::queueing
