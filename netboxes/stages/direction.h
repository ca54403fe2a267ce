// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>

namespace netboxit::stages
{

/// From the node at the port, or to it.
enum class Direction : std::uint8_t
{
    FromNode,
    ToNode
};

} // namespace netboxit::stages
