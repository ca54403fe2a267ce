// SPDX-License-Identifier: GPL-2.0-or-later
#include "network_configuration.h"

#include "configuration_section.h"

#include <cmath>

namespace netboxit
{

namespace
{

constexpr double NS = 1e9;
/// The year 2262, when 64 bits of ns since 1970 end.
constexpr double LAST_EPOCH_NS = 9.2e18;

Configuration ReadNetbox(const Json& json, const std::string& path)
{
    try
    {
        auto netbox = ReadConfiguration(json);
        if (netbox.clock != ClockKind::Virtual)
        {
            throw BadConfiguration(R"(clock: is "real"; a network of netboxes in one process has virtual time)");
        }
        if (netbox.duration || netbox.start != 0)
        {
            throw BadConfiguration("duration_s, start_s: say them of the network, for all netboxes");
        }
        if (!netbox.changes.empty())
        {
            throw BadConfiguration("events: say them of the network, for all netboxes");
        }
        return netbox;
    }
    catch (const BadConfiguration& error)
    {
        throw BadConfiguration(path + "." + error.what());
    }
}

RouterConfiguration ReadRouter(const Json& json, const std::string& path)
{
    Section router(json, path);
    RouterConfiguration result{.name = router.Text("name"),
                               .configuration = router.Text("configuration"),
                               .defines = {},
                               .interfaces = {},
                               .stages = router.At("stages"),
                               .statistics = router.TextOr("statistics", ""),
                               .journal = router.TextOr("journal", "")};
    const auto& defines = router.At("defines");
    for (const auto& [name, value] : defines.items())
    {
        if (!value.is_string())
        {
            router.Refuse("defines." + name, "is " + value.dump() + ", not a text");
        }
        result.defines[name] = value;
    }
    for (const auto& interface : router.List("interfaces"))
    {
        if (!interface.is_string())
        {
            router.Refuse("interfaces", interface.dump() + " is no name");
        }
        result.interfaces.push_back(interface);
    }
    router.Finish();
    return result;
}

WireEndName ReadEnd(const Json& json, const std::string& path)
{
    if (!json.is_array() || json.size() != 2 || !json[0].is_string() || !json[1].is_string())
    {
        throw BadConfiguration(path + R"(: is )" + json.dump() + R"(, not ["node", "port"])");
    }
    return {json[0], json[1]};
}

std::size_t ReadNumber(Section& section, const std::string& key, std::size_t of)
{
    const auto& value = section.At(key);
    if (!value.is_number_unsigned() || value.get<std::size_t>() >= of)
    {
        section.Refuse(key, "is " + value.dump() + ", not a number below " + std::to_string(of));
    }
    return value;
}

Change ReadChange(Section& event, std::size_t wires)
{
    if (!event.At("netbox").is_null())
    {
        return ParameterChange{event.Text("netbox"), event.Text("parameter"), event.At("value")};
    }
    if (!event.At("wire").is_null())
    {
        return WireChange{ReadNumber(event, "wire", wires), event.Truth("up")};
    }
    if (!event.At("node").is_null())
    {
        return PowerChange{event.Text("node"), event.Truth("power")};
    }
    if (!event.At("configuration").is_null())
    {
        return ConfigurationChange{event.Text("router"), event.Text("configuration")};
    }
    if (!event.At("stages").is_null())
    {
        return StagesChange{event.Text("router"), event.Text("interface"), event.At("stages")};
    }
    return HandlerWrite{event.Text("router"), event.TextOr("element", ""), event.Text("handler"), event.TextOr("value", "")};
}

Condition ReadCondition(const Json& json, const std::string& path, std::size_t events)
{
    Section section(json, path);
    Condition condition{.words = section.TextOr("words", path),
                        .netbox = section.TextOr("netbox", ""),
                        .station = section.TextOr("station", ""),
                        .happens = section.TextOr("happens", ""),
                        .silent = std::llround(section.NumberOr("silent_s", 0, 0, LONGEST_S) * NS),
                        .after = {},
                        .within = {}};
    for (const auto& number : section.List("after"))
    {
        if (!number.is_number_unsigned() || number.get<std::size_t>() >= events)
        {
            section.Refuse("after", "has " + number.dump() + ", which is no event");
        }
        condition.after.push_back(number);
    }
    if (!section.At("within_s").is_null())
    {
        condition.within = std::llround(section.NumberOr("within_s", 0, 0, LONGEST_S) * NS);
    }
    section.Finish();
    return condition;
}

void ReadEvents(Section& root, NetworkConfiguration& result)
{
    const auto& events = root.List("events");
    for (const auto& condition : root.List("conditions"))
    {
        const auto path = "conditions[" + std::to_string(result.conditions.size()) + "]";
        result.conditions.push_back(ReadCondition(condition, path, events.size()));
    }
    for (const auto& json : events)
    {
        Section section(json, "events[" + std::to_string(result.events.size()) + "]");
        NetworkEvent event{.at = std::llround(section.NumberOr("at_s", 0, 0, LONGEST_S) * NS),
                           .condition = {},
                           .change = ReadChange(section, result.wires.size())};
        if (!section.At("when").is_null())
        {
            event.condition = ReadNumber(section, "when", result.conditions.size());
        }
        section.Finish();
        result.events.push_back(std::move(event));
    }
}

} // namespace

NetworkConfiguration ReadNetworkConfiguration(const Json& json)
{
    Section root(json, "");
    NetworkConfiguration result;
    if (root.At("duration_s").is_null())
    {
        root.Refuse("duration_s", "missing");
    }
    result.duration = std::llround(root.NumberOr("duration_s", 0, 0, LONGEST_S) * NS);
    if (!root.At("start_s").is_null())
    {
        result.start = std::llround(root.NumberOr("start_s", 0, 0, LONGEST_S) * NS);
    }
    result.settle = std::llround(root.NumberOr("settle_s", 0, 0, LONGEST_S) * NS);
    result.patience = std::llround(root.NumberOr("patience_s", 90, 0, LONGEST_S) * NS);
    root.NumberOr("epoch_ns", 0, 0, LAST_EPOCH_NS);
    result.epoch = root.At("epoch_ns").is_null() ? 0 : root.At("epoch_ns").get<std::int64_t>();
    result.times = root.TextOr("times", "");
    result.watched = !root.At("watched").is_null() && root.Truth("watched");
    for (const auto& netbox : root.List("netboxes"))
    {
        const auto path = "netboxes[" + std::to_string(result.netboxes.size()) + "]";
        result.netboxes.push_back(ReadNetbox(netbox, path));
    }
    for (const auto& router : root.List("routers"))
    {
        result.routers.push_back(ReadRouter(router, "routers[" + std::to_string(result.routers.size()) + "]"));
    }
    for (const auto& wire : root.List("wires"))
    {
        const auto path = "wires[" + std::to_string(result.wires.size()) + "]";
        if (!wire.is_array() || wire.size() != 2)
        {
            throw BadConfiguration(path + ": a wire has two ends");
        }
        result.wires.push_back({ReadEnd(wire[0], path + "[0]"), ReadEnd(wire[1], path + "[1]")});
    }
    ReadEvents(root, result);
    result.made = root.TextOr("made", "");
    root.Finish();
    return result;
}

} // namespace netboxit
