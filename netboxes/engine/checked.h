// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "segment.h"

#include <sstream>

namespace netboxit
{

/// The number `key` of a parameter that is a mapping; throws OutOfRange, naming the limits (those of parameters.py), when it is none
/// or outside them.
inline double Checked(
    const Json& value, std::string_view parameter, const char* key, double minimum, double maximum, std::string_view unit = {})
{
    const auto found = value.is_object() ? value.find(key) : value.end();
    if (!value.is_object() || found == value.end() || !found->is_number() || found->get<double>() < minimum ||
        found->get<double>() > maximum)
    {
        std::ostringstream message;
        message << parameter << " cannot be " << value.dump() << "; its " << key << " is a number from " << minimum
                << " to " << maximum << (unit.empty() ? "" : " ") << unit;
        throw OutOfRange(message.str());
    }
    return *found;
}

/// The word `key` of such a parameter; throws OutOfRange, listing `words`, when it is none of them.
inline std::string CheckedWord(const Json& value,
                               std::string_view parameter,
                               const char* key,
                               std::initializer_list<std::string_view> words)
{
    const auto said = value.is_object() ? value.value(key, Json()) : Json();
    for (const auto word : words)
    {
        if (said == word)
        {
            return std::string(word);
        }
    }
    std::string message = std::string(parameter) + " cannot be " + value.dump() + "; its " + key + " is one of";
    for (const auto word : words)
    {
        message += ' ' + std::string(word);
    }
    throw OutOfRange(message);
}

} // namespace netboxit
