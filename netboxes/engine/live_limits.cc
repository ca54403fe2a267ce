// SPDX-License-Identifier: GPL-2.0-or-later
#include "live_limits.h"

#include "station_parameter.h"

namespace netboxit
{

namespace
{

/// Of a value that is told in a message: tables have up to a million numbers.
constexpr std::size_t LONGEST_VALUE = 300;

/// Null when it is absent.
const Json& At(const Json& mapping, const std::string& key)
{
    static const Json absent;
    const auto found = mapping.find(key);
    return found == mapping.end() ? absent : *found;
}

[[noreturn]] void Refuse(std::string_view name, const Json& value, const std::string& fault)
{
    auto text = value.dump(-1, ' ', true);
    if (text.size() > LONGEST_VALUE)
    {
        text.replace(LONGEST_VALUE, text.npos, "…");
    }
    throw OutOfRange(std::string(name) + " cannot be " + text + "; " + fault);
}

} // namespace

LiveLimits::LiveLimits(const Json& said, std::vector<std::string> stations)
    : m_stations(std::move(stations)), m_ofSegment(Read(said, "segment")), m_ofStation(Read(said, "stations"))
{
}

LiveLimits::Parameters LiveLimits::Read(const Json& said, const std::string& whose)
{
    Parameters parameters;
    try
    {
        for (const auto& [name, limit] : said.at(whose).items())
        {
            parameters.push_back({name, MakeLimit(limit), limit.value("removable", false), limit.value("fixed", false)});
        }
    }
    catch (const std::exception& error)
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
    if (found == parameters.end() || found->isFixed)
    {
        std::string names;
        for (const auto& parameter : parameters)
        {
            names += parameter.isFixed ? "" : ' ' + parameter.name;
        }
        throw UnknownParameter("no live parameter '" + std::string(target.parameter) + "'" +
                               (target.station ? " of a station" : "") +
                               (names.empty() ? "; there is none" : "; there are" + names));
    }
    if (const auto fault = found->isRemovable ? found->limit->Fault(value) : found->limit->FaultOfValue(value))
    {
        Refuse(name, value, *fault);
    }
}

void LiveLimits::CheckStart(const Json& parameters) const
{
    CheckStart(m_ofSegment, parameters, "");
    for (const auto& station : m_stations)
    {
        CheckStart(m_ofStation, At(At(parameters, "stations"), station), station + '.');
    }
}

void LiveLimits::CheckStart(const Parameters& limits, const Json& parameters, const std::string& whose)
{
    for (const auto& [name, limit, isRemovable, isFixed] : limits)
    {
        const auto value = parameters.find(name);
        const auto fault = value == parameters.end() ? std::nullopt : limit->Fault(*value);
        if (fault)
        {
            Refuse(whose + name, *value, *fault);
        }
    }
}

} // namespace netboxit
