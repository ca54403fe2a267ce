// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "configuration.h"
#include "places.h"

#include "../engine/station_parameter.h"

namespace netboxit::wimax
{

/// Changes one parameter of a running cell or of a station. Throws UnknownParameter or OutOfRange, and then may have
/// changed something: hand over copies.
void SetLive(Configuration& configuration, Places& places, const LiveTarget& target, const Json& value);

/// The round trip of who only has a distance must fit into TTG, or it would have to send before it has heard the
/// downlink's end (8.3.5.1). Throws OutOfRange. Who has a place of its own loses the link beyond.
void CheckReach(const Configuration& configuration, const Places& places);

} // namespace netboxit::wimax
