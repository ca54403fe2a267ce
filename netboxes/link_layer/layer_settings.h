// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "air_frame.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace netboxit::multiservice
{

using Json = nlohmann::json;

/// The settings of a layer, but those of its schemes. multi_service_link.h has their names.
struct LayerSettings
{
    /// Of one service.
    struct Place
    {
        /// Whether a service with these settings can go on as one with the others: with the same scheme and the same numbers of
        /// frames.
        bool IsLike(const Place& other) const;

        Json scheme; ///< its settings
        double share{};
        std::size_t queue{}; ///< frames
    };

    /// How timers are multiplied (section 6.2.2).
    enum class Factor : std::uint8_t
    {
        Services, ///< by the number of services
        Share,    ///< by the inverse of the service's share
        Fixed,
    };

    /// Throws std::invalid_argument where a value is not permitted.
    static LayerSettings Of(const Json& settings);

    /// Whether there are the same services, each like the other.
    bool HasServicesLike(const LayerSettings& other) const;

    std::vector<Place> places;
    bool isMeasured{}; ///< shares
    std::int64_t interval{}; ///< ns
    double smoothing{};
    Factor factor{};
    double fixedFactor{1};
    std::uint32_t batch{}; ///< of pacing; 0: none
    std::uint32_t overhead{}; ///< bytes
};

} // namespace netboxit::multiservice
