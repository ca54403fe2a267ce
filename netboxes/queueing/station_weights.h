// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "scheduler.h"

#include <array>
#include <string_view>

namespace netboxit::queueing
{

/// How the weights of stations follow from their losses.
enum class WeightPolicy
{
    Constant,
    Linear,
    Exponential,
    Analogical
};

/// By their value.
inline constexpr std::array<std::string_view, 4> WEIGHT_POLICY_NAMES{"constant", "linear", "exponential", "analogical"};

/// Grazia, "Communication Networks for Public Protection and Disaster Relief Systems", 4.2.4.2 and 4.3.2.6. With i, a station's place in the
/// order from the highest to the lowest loss, from 0: 1; i; 2^i, up to 2^15; 1000 × (1 − loss). A weight is 1 at least.
Weights WeightsOf(WeightPolicy policy, const std::vector<double>& losses);

} // namespace netboxit::queueing
