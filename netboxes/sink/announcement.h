// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../engine/headers.h"

#include <optional>

namespace netboxit
{

/// The ARP announcement (RFC 5227, 2.3) of the host that an IPv4 frame is for, with the frame's VLAN tags: from
/// it, bridges on the way learn where that host is. Nothing when the frame is for a group.
std::optional<std::array<std::uint8_t, 64>> AnnouncementOf(Bytes frame, const Headers& headers);

} // namespace netboxit
