// SPDX-License-Identifier: GPL-2.0-or-later
#include "waveforms.h"

#include <cmath>

namespace netboxit
{

Profile ProfileOf(const Json& parameters)
{
    return {.name = parameters.at("name"),
            .bits = parameters.at("bits"),
            .payload = parameters.at("payload"),
            .symbols = parameters.at("symbols"),
            .threshold = parameters.at("threshold"),
            .midpoint = parameters.at("midpoint"),
            .width = parameters.at("width")};
}

ProfileSet ProfileSetOf(const Json& parameters)
{
    ProfileSet set{.profiles = {}, .usable = parameters.at("usable"), .reference = parameters.at("reference")};
    for (const auto& profile : parameters.at("profiles"))
    {
        set.profiles.push_back(ProfileOf(profile));
    }
    if (set.usable == 0 || set.usable > set.profiles.size() || set.reference >= set.profiles.size())
    {
        throw std::invalid_argument("satellite: `usable` and `reference` are not among the profiles of a direction");
    }
    return set;
}

double Profile::ErrorRate(double esN0) const
{
    return 0.5 * std::erfc((esN0 - midpoint) / width / std::sqrt(2.0));
}

} // namespace netboxit
