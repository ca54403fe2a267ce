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
                               .statistics = router.TextOr("statistics", ""),
                               .writes = {}};
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
    for (const auto& written : router.List("writes"))
    {
        Section write(written, router.Path("writes[" + std::to_string(result.writes.size()) + "]"));
        result.writes.push_back({std::llround(write.NumberOr("at_s", 0, 0, LONGEST_S) * NS),
                                 write.Text("element"),
                                 write.Text("handler"),
                                 write.TextOr("value", "")});
        write.Finish();
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
    root.Finish();
    return result;
}

} // namespace netboxit
