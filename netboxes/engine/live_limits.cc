// SPDX-License-Identifier: GPL-2.0-or-later
#include "live_limits.h"

#include "station_parameter.h"

#include <sstream>

namespace netboxit
{

LiveLimits::LiveLimits(const Json& said, std::vector<std::string> stations)
    : m_stations(std::move(stations)), m_ofSegment(Read(said, "segment")), m_ofStation(Read(said, "stations"))
{
}

LiveLimits::Parameters LiveLimits::Read(const Json& said, const std::string& whose)
{
    Parameters parameters;
    if (said.is_null())
    {
        return parameters;
    }
    try
    {
        for (const auto& [name, limits] : said.at(whose).items())
        {
            const bool isNumber = limits.contains("minimum");
            parameters.push_back(isNumber ? Parameter{name, true, limits.at("minimum"), limits.at("maximum"), limits.at("unit")}
                                          : Parameter{.name = name});
        }
    }
    catch (const Json::exception& error)
    {
        throw std::invalid_argument(whose + ": " + error.what());
    }
    return parameters;
}

void LiveLimits::Check(std::string_view name, const Json& value) const
{
    const auto target = TargetOf(name, m_stations);
    const auto& parameters = target.station ? m_ofStation : m_ofSegment;
    const auto found = std::ranges::find(parameters, target.parameter, &Parameter::name);
    std::ostringstream message;
    if (found == parameters.end())
    {
        message << "no live parameter '" << target.parameter << "'" << (target.station ? " of a station" : "")
                << (parameters.empty() ? "; there is none" : "; there are");
        for (const auto& parameter : parameters)
        {
            message << ' ' << parameter.name;
        }
        throw UnknownParameter(message.str());
    }
    if (found->isNumber &&
        (!value.is_number() || value.get<double>() < found->minimum || value.get<double>() > found->maximum))
    {
        message << found->name << " cannot be " << value << "; it is a number from " << found->minimum << " to " << found->maximum
                << (found->unit.empty() ? "" : " ") << found->unit;
        throw OutOfRange(message.str());
    }
}

} // namespace netboxit
