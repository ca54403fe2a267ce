// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "headers.h"
#include "link_state.h"

#include <optional>
#include <vector>

namespace netboxit
{

/// The frame by which a netbox tells the node at a port about its link (README.md, "Telemetry"). Sent to the nearest bridge
/// (IEEE 802.1Q-2018, table 8-1), which no bridge forwards.
std::vector<std::uint8_t> TelemetryFrame(const LinkState& state);

/// What such a frame says; none of any other frame, or one that is damaged.
std::optional<LinkState> ReadTelemetryFrame(Bytes frame);

} // namespace netboxit
