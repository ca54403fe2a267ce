// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "stage.h"

#include <memory>

namespace netboxit::stages
{

/// The stage that `settings` say, by its kind as "stage"; what else they have is of that kind. `seed` of what it does at random. Throws
/// std::invalid_argument or nlohmann::json::exception.
std::unique_ptr<Stage> MakeStage(const Json& settings, std::uint64_t seed);

} // namespace netboxit::stages
