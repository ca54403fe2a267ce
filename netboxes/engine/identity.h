// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "headers.h"

namespace netboxit
{

/// Hash of what routers leave alone in a frame: the same at every point of the network (docs/architecture.md,
/// "Identity of a frame"). `results/identity.py` computes the same.
std::uint64_t Identity(const Headers& headers);

} // namespace netboxit
