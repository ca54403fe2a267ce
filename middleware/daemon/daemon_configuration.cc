// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon_configuration.h"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace netboxit::middleware
{

namespace
{

constexpr std::array KEYS{"management", "state", "control", "journal"};

std::string PathAt(const Json& json, const char* key)
{
    const auto value = json.find(key);
    if (value == json.end() || !value->is_string() || value->get_ref<const std::string&>().empty())
    {
        throw std::invalid_argument(std::string(key) + " is missing or no text: give the path of a file");
    }
    return *value;
}

void CheckEnforcement(const Part& part)
{
    const auto* member = std::get_if<MemberPart>(&part.role);
    if (member != nullptr && member->enforcement == Enforcement::Window)
    {
        throw std::invalid_argument("management: the member of " + part.name + " has the enforcement \"window\", which is for " +
                                    "senders in virtual time: give \"shaper\" or \"none\"");
    }
}

} // namespace

DaemonConfiguration ReadDaemonConfiguration(const Json& json)
{
    if (!json.is_object())
    {
        throw std::invalid_argument("the configuration is no object: give {\"management\": [...], \"state\": path}");
    }
    for (const auto& [key, value] : json.items())
    {
        if (std::ranges::find(KEYS, key) == KEYS.end())
        {
            throw std::invalid_argument("the configuration has the key \"" + key + "\", which does not exist: leave it out");
        }
    }
    DaemonConfiguration configuration{
        .parts = ReadParts(json.value("management", Json())), .state = PathAt(json, "state"), .control = {}, .journal = {}};
    if (configuration.parts.empty())
    {
        throw std::invalid_argument("management is an empty list: give an object for each part of this host");
    }
    for (const auto& part : configuration.parts)
    {
        CheckEnforcement(part);
    }
    for (const auto& [key, path] : {std::pair("control", &configuration.control), std::pair("journal", &configuration.journal)})
    {
        if (json.contains(key) && !json.at(key).is_null())
        {
            *path = PathAt(json, key);
        }
    }
    return configuration;
}

} // namespace netboxit::middleware
