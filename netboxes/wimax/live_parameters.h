// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "configuration.h"

#include <string_view>

namespace netboxit::wimax
{

/// Changes one parameter of a running cell. Throws UnknownParameter or OutOfRange.
void SetLive(Configuration& configuration, std::string_view parameter, const Json& value);

/// The round trip must fit into TTG, or a station would have to send before it has heard the downlink's end
/// (8.3.5.1). Throws OutOfRange.
void CheckReach(const Configuration& configuration);

} // namespace netboxit::wimax
