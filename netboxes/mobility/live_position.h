// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../engine/segment.h"

#include "ns3/vector.h"

#include <algorithm>
#include <cmath>

namespace netboxit
{

/// A position that was said while a segment runs, [x, y] or [x, y, z] in m; throws OutOfRange. Limits as in
/// netboxes/mobility/stations.py.
inline ns3::Vector CheckLivePosition(std::string_view technology, const Json& value)
{
    constexpr double FARTHEST = 1000e3;
    const auto isCoordinate = [](const Json& each)
    { return each.is_number() && std::abs(each.get<double>()) <= FARTHEST; };
    if (!value.is_array() || value.size() < 2 || value.size() > 3 || !std::ranges::all_of(value, isCoordinate))
    {
        throw OutOfRange(std::string(technology) + ": position cannot be " + value.dump() +
                         "; it is [x, y] or [x, y, z], each a number from -1e6 to 1e6 m");
    }
    return {value[0], value[1], value.size() > 2 ? value[2].get<double>() : 0.0};
}

} // namespace netboxit
