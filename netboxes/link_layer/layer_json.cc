// SPDX-License-Identifier: GPL-2.0-or-later
#include "layer_json.h"

#include "../engine/segment.h"
#include "scheme_chooser.h"

#include <algorithm>

namespace netboxit::multiservice
{

namespace
{

constexpr const char* DEFAULT_CLASS = "default";
/// Of every frame: its service (Xylomenos 1999, 6.2).
constexpr unsigned COMMON_HEADER = 1;

std::string ClassOf(const Json& service)
{
    return service.at("class");
}

bool HasDefault(const Json& services)
{
    return std::ranges::any_of(services, [](const Json& service) { return ClassOf(service) == DEFAULT_CLASS; });
}

Json SchemeJson(const Json& service, const Json& defaults)
{
    Json settings{{"scheme", service.at("scheme")}, {"share", service.at("share")}};
    for (const auto& [key, usual] : defaults.at(service.at("scheme").get<std::string>()).items())
    {
        const auto said = service.value(key, Json());
        settings[key] = said.is_null() ? usual : said;
    }
    // RLP that asks once has a timer of its own.
    if (const auto once = settings.find("timer_once"); once != settings.end())
    {
        if (settings["attempts"] == 1 && service.value("timer", Json()).is_null())
        {
            settings["timer"] = *once;
        }
        settings.erase("timer_once");
    }
    return settings;
}

} // namespace

Json LayerJson(const Json& link, const Json& services)
{
    auto settings = Json::array();
    double shares = 0;
    for (const auto& service : services)
    {
        settings.push_back(SchemeJson(service, link.at("defaults")));
        shares += service.at("share").get<double>();
    }
    const auto said = services.size();
    if (!HasDefault(services))
    {
        const double mean = said == 0 ? 1 : shares / static_cast<double>(said);
        settings.push_back(SchemeJson({{"scheme", "none"}, {"share", mean}}, link.at("defaults")));
    }
    const auto& factor = link.at("timer_factor");
    return {{"services", settings},
            {"shares", link.at("shares")},
            {"measure_interval", link.at("measure_interval")},
            {"timer_factor", factor == "services" ? Json(std::max<std::size_t>(1, said)) : factor},
            {"pacing", link.at("pacing")},
            {"pacing_batch", link.at("pacing_batch")},
            {"pacing_overhead", COMMON_HEADER + static_cast<unsigned>(link.at("overhead").get<double>())}};
}

void CheckChoices(
    MultiServiceLink& one, const Json& servicesOfOne, MultiServiceLink& other, const Json& servicesOfOther, const Json& link)
{
    const auto most = std::max(SchemeChooser::MostChoices(servicesOfOne), SchemeChooser::MostChoices(servicesOfOther));
    try
    {
        for (std::size_t choice = 0; choice < most; ++choice)
        {
            MultiServiceLink::Check(one,
                                    LayerJson(link, SchemeChooser::WithChoice(servicesOfOne, choice)),
                                    other,
                                    LayerJson(link, SchemeChooser::WithChoice(servicesOfOther, choice)));
        }
    }
    catch (const std::invalid_argument& error)
    {
        throw OutOfRange(error.what());
    }
}

std::vector<ServiceId> ServicesOfClasses(const Json& services, std::span<const std::string> classes)
{
    const auto numberOf = [&](const std::string& name)
    {
        const auto found = std::ranges::find(services, name, ClassOf);
        return static_cast<ServiceId>(found - services.begin());
    };
    for (const auto& service : services)
    {
        if (std::ranges::count(services, ClassOf(service), ClassOf) > 1)
        {
            throw OutOfRange("two services are for class '" + ClassOf(service) + "'; a class has one");
        }
        if (std::ranges::find(classes, ClassOf(service)) == classes.end())
        {
            auto message = "a service is for class '" + ClassOf(service) + "', which the netbox does not declare; there are";
            for (const auto& name : classes)
            {
                message += ' ' + name;
            }
            throw OutOfRange(message);
        }
    }
    std::vector<ServiceId> ofClasses;
    for (const auto& name : classes)
    {
        const auto own = numberOf(name);
        ofClasses.push_back(own < services.size() ? own : numberOf(DEFAULT_CLASS));
    }
    return ofClasses;
}

std::vector<std::string> NamesOfServices(const Json& services)
{
    std::vector<std::string> names;
    std::ranges::transform(services, std::back_inserter(names), ClassOf);
    if (!HasDefault(services))
    {
        names.emplace_back(DEFAULT_CLASS);
    }
    return names;
}

} // namespace netboxit::multiservice
