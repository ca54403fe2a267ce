// SPDX-License-Identifier: GPL-2.0-or-later
#include "station_weights.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace netboxit::queueing
{

Weights WeightsOf(WeightPolicy policy, const std::vector<double>& losses)
{
    std::vector<std::size_t> order(losses.size());
    for (std::size_t station = 0; station < losses.size(); ++station)
    {
        order[station] = station;
    }
    std::ranges::stable_sort(order, std::greater(), [&](std::size_t station) { return losses[station]; });
    Weights weights(losses.size(), 1);
    for (std::size_t place = 0; place < order.size(); ++place)
    {
        const auto weight = policy == WeightPolicy::Linear        ? static_cast<double>(place)
                            : policy == WeightPolicy::Exponential ? std::pow(2.0, std::min<double>(static_cast<double>(place), 15))
                            : policy == WeightPolicy::Analogical  ? (1 - losses[order[place]]) * 1000
                                                                  : 1;
        weights[order[place]] = std::max<std::uint32_t>(1, static_cast<std::uint32_t>(std::lround(weight)));
    }
    return weights;
}

} // namespace netboxit::queueing
