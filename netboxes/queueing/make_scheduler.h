// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "weighted_scheduler.h"

#include <string>

namespace netboxit::queueing
{

/// The scheduler of that name: priority, which has no weights, drr, scfq, wf2q+, qfq or qfq+; none of any other. `longest` is the longest
/// packet, and the quantum of the least weight, bytes.
std::unique_ptr<Scheduler> MakeScheduler(const std::string& name, const Weights& weights, std::uint32_t longest);

/// Likewise, of those whose weights can change: drr, scfq, wf2q+, qfq or qfq+.
std::unique_ptr<WeightedScheduler> MakeWeightedScheduler(const std::string& name, const Weights& weights, std::uint32_t longest);

} // namespace netboxit::queueing
