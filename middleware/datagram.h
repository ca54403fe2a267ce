// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "address.h"

#include <optional>
#include <vector>

namespace netboxit::middleware
{

/// What its host sends for an allocator or a member.
struct Datagram
{
    std::optional<Address> to; ///< nothing: all members, by multicast
    std::vector<std::uint8_t> bytes;
    HostAddress from{}; ///< of an answer: the address that was asked; all zero where the host told none
};

} // namespace netboxit::middleware
