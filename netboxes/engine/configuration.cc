// SPDX-License-Identifier: GPL-2.0-or-later
#include "configuration.h"

#include "configuration_section.h"
#include "station_parameter.h"

#include <sched.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <map>

namespace netboxit
{

namespace
{


std::int64_t Nanoseconds(double amount, double unit)
{
    return std::llround(amount * unit);
}

/// Bytes of a frame in a capture: as dumpcap's default.
constexpr double LONGEST_SNAPSHOT = 262'144;

PortKind ReadKind(Section& port, ClockKind clock)
{
    static const std::map<std::string, PortKind> real{
        {"packet", PortKind::Packet}, {"xdp", PortKind::Xdp}, {"memory", PortKind::Memory}};
    static const std::map<std::string, PortKind> virtuals{{"pcapng", PortKind::Pcapng}, {"joined", PortKind::Joined}};
    const auto& known = clock == ClockKind::Real ? real : virtuals;
    const auto kind = port.Text("kind");
    const auto found = known.find(kind);
    if (found == known.end())
    {
        port.Refuse("kind",
                    "is \"" + kind + "\"; with this clock a port is of kind " +
                        (clock == ClockKind::Real ? R"("packet", "xdp" or "memory")" : R"("pcapng" or "joined")"));
    }
    return found->second;
}

WireEnd ReadEnd(Section& port)
{
    const auto end = port.Text("end");
    if (end != "left" && end != "right")
    {
        port.Refuse("end", "is \"" + end + R"(", not "left" or "right")");
    }
    return end == "left" ? WireEnd::Left : WireEnd::Right;
}

PortConfiguration ReadPort(Section port, ClockKind clock)
{
    PortConfiguration result;
    result.kind = ReadKind(port, clock);
    switch (result.kind)
    {
    case PortKind::Packet:
        result.interface = port.Text("interface");
        break;
    case PortKind::Xdp:
        result.interface = port.Text("interface");
        result.fallback = port.Truth("fallback");
        break;
    case PortKind::Memory:
        result.wire = port.Text("wire");
        result.end = ReadEnd(port);
        break;
    case PortKind::Pcapng:
        result.input = port.TextOr("input", "");
        result.output = port.TextOr("output", "");
        break;
    case PortKind::Joined:
        result.capture = port.TextOr("capture", "");
        result.snapshot = static_cast<std::size_t>(port.NumberOr("snapshot", LONGEST_SNAPSHOT, 1, LONGEST_SNAPSHOT));
        break;
    }
    result.mtu = static_cast<std::uint32_t>(port.NumberOr("mtu", 0, 68, 9216));
    port.Finish();
    return result;
}

StationConfiguration ReadStation(const Json& json, const std::string& path, ClockKind clock)
{
    Section station(json, path);
    StationConfiguration result{station.Text("name"),
                                ReadPort(Section(station.At("port"), station.Path("port")), clock)};
    station.Finish();
    return result;
}

RealtimeConfiguration ReadRealtime(const Json& json)
{
    RealtimeConfiguration result;
    if (json.is_null())
    {
        return result;
    }
    Section realtime(json, "realtime");
    result.limitNs = Nanoseconds(realtime.NumberOr("limit_us", 1000, 0, 1e9), 1e3);
    const auto policy = realtime.TextOr("policy", "mark");
    if (policy != "mark" && policy != "abort")
    {
        realtime.Refuse("policy", "is \"" + policy + R"(", not "mark" or "abort")");
    }
    result.abort = policy == "abort";
    result.priority = static_cast<int>(realtime.NumberOr("priority", result.priority, 0, 99));
    result.spinNs = Nanoseconds(realtime.NumberOr("spin_us", 50, 0, 10'000), 1e3);
    result.spinShare = realtime.NumberOr("spin_share", result.spinShare, 0, 1);
    result.timerSlackNs = static_cast<std::uint64_t>(realtime.NumberOr("timer_slack_ns", 1, 1, 1e9));
    if (!realtime.At("runtime_us").is_null())
    {
        result.runtimeUs = static_cast<std::int64_t>(realtime.NumberOr("runtime_us", 0, 0, 1e6));
    }
    result.periodUs = static_cast<std::int64_t>(realtime.NumberOr("period_us", 1e6, 1e3, 1e6));
    if (!realtime.At("io_core").is_null())
    {
        result.ioCore = static_cast<int>(realtime.NumberOr("io_core", 0, 0, CPU_SETSIZE - 1));
    }
    realtime.Finish();
    return result;
}

ScheduledChange ReadChange(const Json& json, const std::string& path)
{
    Section change(json, path);
    if (change.At("at_s").is_null() || change.At("value").is_null())
    {
        throw BadConfiguration(path + ": needs at_s, parameter and value");
    }
    const auto at = Nanoseconds(change.NumberOr("at_s", 0, 0, LONGEST_S), 1e9);
    ScheduledChange result{at, change.Text("parameter"), change.At("value")};
    change.Finish();
    return result;
}

void ReadStations(Section& root, Configuration& result)
{
    std::set<std::string> names;
    for (const auto& station : root.List("stations"))
    {
        const auto path = "stations[" + std::to_string(result.stations.size()) + "]";
        result.stations.push_back(ReadStation(station, path, result.clock));
        if (!names.insert(result.stations.back().name).second)
        {
            throw BadConfiguration(path + ".name: a second station is called \"" +
                                   result.stations.back().name + "\"");
        }
    }
    if (result.stations.empty() || result.stations.size() > UINT16_MAX)
    {
        root.Refuse("stations",
                    "a segment joins from 1 to 65535 stations, not " +
                        std::to_string(result.stations.size()));
    }
}

LiveLimits ReadLive(Section& root, const std::vector<StationConfiguration>& stations)
{
    if (root.At("live").is_null())
    {
        root.Refuse("live", "missing");
    }
    std::vector<std::string> names;
    std::ranges::transform(stations, std::back_inserter(names), &StationConfiguration::name);
    try
    {
        return {root.At("live"), names};
    }
    catch (const std::invalid_argument& error)
    {
        root.Refuse("live", error.what());
    }
}

Json ReadStages(Section& root, const LiveLimits& live)
{
    const auto& said = root.At("stages");
    if (said.is_null())
    {
        return Json::object();
    }
    if (!said.is_object())
    {
        root.Refuse("stages", "not an object");
    }
    for (const auto& [station, stages] : said.items())
    {
        try
        {
            live.Check(station + "." + STAGES, stages);
        }
        catch (const std::invalid_argument& error)
        {
            root.Refuse("stages", error.what());
        }
    }
    return said;
}

} // namespace

Json ReadJson(const std::string& path)
{
    std::ifstream file(path);
    if (!file)
    {
        throw BadConfiguration("cannot read " + path + ": " + std::strerror(errno));
    }
    try
    {
        return Json::parse(file);
    }
    catch (const Json::exception& error)
    {
        throw BadConfiguration(path + " is not JSON: " + error.what());
    }
}

Configuration ReadConfiguration(const Json& json)
{
    Section root(json, "");
    Configuration result;
    result.name = root.Text("name");
    result.technology = root.Text("technology");
    result.seed = static_cast<std::uint32_t>(root.NumberOr("seed", 1, 0, UINT32_MAX - 1));
    const auto clock = root.Text("clock");
    if (clock != "real" && clock != "virtual")
    {
        root.Refuse("clock", "is \"" + clock + R"(", not "real" or "virtual")");
    }
    result.clock = clock == "real" ? ClockKind::Real : ClockKind::Virtual;
    if (!root.At("duration_s").is_null())
    {
        result.duration = Nanoseconds(root.NumberOr("duration_s", 0, 0, LONGEST_S), 1e9);
    }
    result.start = Nanoseconds(root.NumberOr("start_s", 0, 0, LONGEST_S), 1e9);
    ReadStations(root, result);
    try
    {
        result.classifier = Classifier(root.List("classes"));
    }
    catch (const std::invalid_argument& error)
    {
        root.Refuse("classes", error.what());
    }
    result.parameters = root.At("parameters").is_null() ? Json::object() : root.At("parameters");
    result.live = ReadLive(root, result.stations);
    try
    {
        result.live.CheckStart(result.parameters);
    }
    catch (const OutOfRange& error)
    {
        root.Refuse("parameters", error.what());
    }
    result.stages = ReadStages(root, result.live);
    result.linkLayer = root.At("link_layer");
    if (!result.linkLayer.is_null() && !result.linkLayer.is_object())
    {
        root.Refuse("link_layer", "not an object");
    }
    result.telemetry = !root.At("telemetry").is_null() && root.Truth("telemetry");
    result.realtime = ReadRealtime(root.At("realtime"));
    result.control = root.TextOr("control", "");
    result.records = root.TextOr("records", "");
    result.statistics = root.TextOr("statistics", "");
    result.journal = root.TextOr("journal", "");
    if (!root.At("interval_s").is_null())
    {
        result.interval = Nanoseconds(root.NumberOr("interval_s", 1, SHORTEST_INTERVAL_S, LONGEST_S), 1e9);
    }
    for (const auto& change : root.List("events"))
    {
        result.changes.push_back(ReadChange(change, "events[" + std::to_string(result.changes.size()) + "]"));
    }
    root.Finish();
    return result;
}

} // namespace netboxit
