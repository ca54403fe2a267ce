// SPDX-License-Identifier: GPL-2.0-or-later
#include "make_scheduler.h"

#include "drr.h"
#include "priority.h"
#include "qfq.h"
#include "scfq.h"
#include "wf2q_plus.h"

namespace netboxit::queueing
{

std::unique_ptr<Scheduler> MakeScheduler(const std::string& name, const Weights& weights, std::uint32_t longest)
{
    if (name == "priority")
    {
        return std::make_unique<Priority>(weights.size());
    }
    return MakeWeightedScheduler(name, weights, longest);
}

std::unique_ptr<WeightedScheduler> MakeWeightedScheduler(const std::string& name, const Weights& weights, std::uint32_t longest)
{
    if (name == "drr")
    {
        return std::make_unique<Drr>(weights, longest);
    }
    if (name == "scfq")
    {
        return std::make_unique<Scfq>(weights);
    }
    if (name == "wf2q+")
    {
        return std::make_unique<Wf2qPlus>(weights);
    }
    if (name == "qfq")
    {
        return std::make_unique<Qfq>(weights, longest, 1);
    }
    return name == "qfq+" ? std::make_unique<Qfq>(weights, longest, QFQ_PLUS_AGGREGATE) : nullptr;
}

} // namespace netboxit::queueing
