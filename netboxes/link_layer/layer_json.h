// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "air_frame.h"
#include "multi_service_link.h"

#include <nlohmann/json.hpp>

#include <span>
#include <string>
#include <vector>

namespace netboxit::multiservice
{

using Json = nlohmann::json;

/// The settings of a link layer, as multi_service_link.h has them, of what parameters.py dumps: the parameters of a link, and
/// the services of one end. Settings of schemes that nobody said are the link's `defaults`. Where no service is for the class
/// `default`, there is one more, without recovery, with the mean of the others' shares.
Json LayerJson(const Json& link, const Json& services);

/// So that no choice of a scheme is refused later: both ends accept each one, of the services of either. Throws OutOfRange.
void CheckChoices(
    MultiServiceLink& one, const Json& servicesOfOne, MultiServiceLink& other, const Json& servicesOfOther, const Json& link);

/// By ClassId, which service is for a class. Throws OutOfRange where services name a class twice, or one that the netbox does
/// not declare.
std::vector<ServiceId> ServicesOfClasses(const Json& services, std::span<const std::string> classes);

/// What services are called in statistics, by ServiceId: by their classes.
std::vector<std::string> NamesOfServices(const Json& services);

} // namespace netboxit::multiservice
