// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "options.h"

namespace netboxit::stock
{

/// Builds the network of the options from ns-3's own parts, as its manual shows it. Throws std::system_error.
void BuildRouters(const Options& options);
void BuildBridges(const Options& options);

} // namespace netboxit::stock
