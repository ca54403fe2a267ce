// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "segment.h"

#include <algorithm>
#include <span>

namespace netboxit
{

/// The parameter of each station that is not the segment's: the stages of its port.
inline constexpr const char* STAGES = "stages";

/// What a live change is about: the whole segment, or one station of it.
struct LiveTarget
{
    std::optional<StationId> station;
    std::string_view parameter;
};

/// Takes "station.parameter" apart; throws UnknownParameter, which lists the stations, when there is no such one.
inline LiveTarget TargetOf(std::string_view name, std::span<const std::string> stations)
{
    const auto dot = name.find('.');
    if (dot == std::string_view::npos)
    {
        return {std::nullopt, name};
    }
    const auto found = std::ranges::find(stations, name.substr(0, dot));
    if (found == stations.end())
    {
        std::string message = "no station '" + std::string(name.substr(0, dot)) + "'; there are";
        for (const auto& station : stations)
        {
            message += ' ' + station;
        }
        throw UnknownParameter(message);
    }
    return {static_cast<StationId>(found - stations.begin()), name.substr(dot + 1)};
}

} // namespace netboxit
