// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "segment.h"

#include <algorithm>
#include <span>
#include <sstream>

namespace netboxit
{

/// A number that can be changed while a segment runs, with its limits in base units.
struct LiveNumber
{
    std::string_view name;
    double minimum;
    double maximum;
    std::string_view unit;
};

/// The value for the live number `name` of a technology; throws UnknownParameter or OutOfRange. `further`
/// names what can be changed beside numbers.
inline double CheckLive(std::string_view technology,
                        std::span<const LiveNumber> numbers,
                        std::string_view name,
                        const Json& value,
                        std::string_view further = {})
{
    const auto live = std::ranges::find(numbers, name, &LiveNumber::name);
    std::ostringstream message;
    message << technology << ": ";
    if (live == numbers.end())
    {
        message << "no live parameter '" << name << "'; there are";
        for (const auto& number : numbers)
        {
            message << ' ' << number.name;
        }
        message << (further.empty() ? "" : " ") << further;
        throw UnknownParameter(message.str());
    }
    if (!value.is_number() || value.get<double>() < live->minimum || value.get<double>() > live->maximum)
    {
        message << name << " cannot be " << value << "; it is a number from " << live->minimum << " to "
                << live->maximum << ' ' << live->unit;
        throw OutOfRange(message.str());
    }
    return value;
}

} // namespace netboxit
