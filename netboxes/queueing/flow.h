// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../engine/headers.h"

namespace netboxit::queueing
{

/// A hash that tells flows apart: of IP packets by addresses, protocol and ports, of other frames by their MAC addresses. All fragments
/// of two addresses and a protocol are one flow, so that they stay in order: later ones have no ports.
/// What is no frame (its name is stale) is a flow of its own.
std::uint32_t FlowOf(Bytes frame);

/// Hashes that tell hosts apart.
struct HostHashes
{
    std::uint32_t source;
    std::uint32_t destination;
};

/// The hosts that an IP packet is from and for, by their addresses; of other frames by their MAC addresses.
HostHashes HostsOf(Bytes frame);

} // namespace netboxit::queueing
