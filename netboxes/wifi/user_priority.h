// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>

namespace netboxit
{

/// The 802.11 user priority (0 … 7) of a DiffServ code point, as RFC 8325, Sect. 4.3, recommends.
std::uint8_t UserPriority(std::uint8_t dscp);

} // namespace netboxit
