// SPDX-License-Identifier: GPL-2.0-or-later
#include "control_methods.h"

#include <algorithm>
#include <cmath>

namespace netboxit
{

namespace
{

constexpr double LONGEST_CAPTURE_S = 1e9;

} // namespace

ControlMethods::ControlMethods(const Configuration& configuration,
                               Netbox& netbox,
                               const EventQueue& events,
                               const RealtimeThread& thread)
    : m_name(configuration.name), m_technology(configuration.technology), m_netbox(netbox), m_events(events),
      m_thread(thread)
{
}

Json ControlMethods::Call(const std::string& method, const Json& params)
{
    if (method == "status")
    {
        return Status();
    }
    if (method == "statistics")
    {
        return Statistics();
    }
    if (method == "counters")
    {
        auto counters = m_netbox.Counters();
        counters["scheduler"] = m_thread.Usage();
        return counters;
    }
    if (method == "set")
    {
        return Set(params);
    }
    if (method == "reset")
    {
        m_netbox.TheLateness().Reset();
        m_netbox.TheSegment().Reset();
        return Json::object();
    }
    if (method == "begin")
    {
        return Begin(params);
    }
    if (method == "capture")
    {
        return Capture(params);
    }
    if (method == "capture_stop")
    {
        return StopCapture(params);
    }
    if (method == "reopen")
    {
        return Reopen(params);
    }
    if (method == "write_records")
    {
        auto& records = m_netbox.Records();
        records.WritePiece();
        return {{"written", records.Written()}, {"dropped", records.Dropped()}, {"left", records.Left()}};
    }
    throw json_rpc::Refusal{json_rpc::Code::MethodNotFound,
                            "no method \"" + method +
                                "\": there are status, statistics, counters, set, begin, reset, capture, capture_stop, "
                                "reopen and write_records"};
}

Json ControlMethods::Statistics()
{
    auto statistics = m_netbox.Statistics();
    statistics["scheduler"] = m_thread.Usage();
    return statistics;
}

Json ControlMethods::Status()
{
    auto ports = Json::array();
    for (const auto& port : m_netbox.Ports())
    {
        const auto station = static_cast<StationId>(ports.size());
        ports.push_back(port->Describe());
        ports.back()["capture"] = m_netbox.Captures().Read(station);
    }
    auto unlinked = Json::object();
    for (const auto& [station, details] : m_netbox.TheSegment().WithoutLink())
    {
        unlinked[m_netbox.Ports()[station]->Name()] = details.at("reason");
    }
    return {{"name", m_name},
            {"technology", m_technology},
            {"clock", "real"},
            {"simulated_s", static_cast<double>(m_events.NowNs()) / 1e9},
            {"scheduler", m_thread.Describe()},
            {"ports", ports},
            {"unlinked", unlinked},
            {"ready", m_netbox.TheSegment().Ready()}};
}

Json ControlMethods::Set(const Json& params)
{
    const auto parameter = params.find("parameter");
    const auto value = params.find("value");
    if (parameter == params.end() || !parameter->is_string() || value == params.end())
    {
        throw json_rpc::Refusal{json_rpc::Code::InvalidParams, "set takes parameter (a text) and value"};
    }
    try
    {
        m_netbox.Set(*parameter, *value);
    }
    catch (const std::invalid_argument& error)
    {
        throw json_rpc::Refusal{json_rpc::Code::InvalidParams, error.what()};
    }
    return {{"parameter", *parameter}, {"value", *value}};
}

Json ControlMethods::Begin(const Json& params)
{
    const auto interval = params.value("interval_s", Json());
    if (!interval.is_null() && (!interval.is_number() || interval < SHORTEST_INTERVAL_S || interval > LONGEST_S))
    {
        throw json_rpc::Refusal{json_rpc::Code::InvalidParams,
                                "begin takes interval_s, a number of seconds from " + Json(SHORTEST_INTERVAL_S).dump() +
                                    " to " + Json(LONGEST_S).dump() + ", or null"};
    }
    m_netbox.Begin(interval.is_null() ? std::nullopt
                                      : std::optional(std::llround(interval.get<double>() * 1e9)));
    return {{"simulated_s", static_cast<double>(m_events.NowNs()) / 1e9}};
}

Json ControlMethods::Capture(const Json& params)
{
    const auto port = PortOf(params);
    const auto file = params.find("file");
    const auto frames = params.value("frames", Json());
    const auto seconds = params.value("seconds", Json());
    if (file == params.end() || !file->is_string() || !frames.is_number_unsigned() || frames == 0u ||
        !seconds.is_number() || seconds < 0)
    {
        throw json_rpc::Refusal{
            json_rpc::Code::InvalidParams,
            "capture takes port, file (a path), frames (a number of 1 or more) and seconds (a number)"};
    }
    try
    {
        const std::chrono::duration<double> duration(std::min(seconds.get<double>(), LONGEST_CAPTURE_S));
        m_netbox.Captures().Start(port,
                                  file->get<std::string>(),
                                  frames.get<std::uint64_t>(),
                                  std::chrono::duration_cast<std::chrono::nanoseconds>(duration));
    }
    catch (const std::runtime_error& error)
    {
        throw json_rpc::Refusal{json_rpc::Code::InvalidParams,
                                "port " + m_netbox.Ports()[port]->Name() + ": " + error.what()};
    }
    return m_netbox.Captures().Read(port);
}

Json ControlMethods::StopCapture(const Json& params)
{
    const auto port = PortOf(params);
    try
    {
        return m_netbox.Captures().Stop(port);
    }
    catch (const std::runtime_error& error)
    {
        throw json_rpc::Refusal{json_rpc::Code::InvalidParams,
                                "port " + m_netbox.Ports()[port]->Name() + ": " + error.what()};
    }
}

Json ControlMethods::Reopen(const Json& params)
{
    const auto& port = m_netbox.Ports()[PortOf(params)];
    try
    {
        return {{"done", port->Reopen()}};
    }
    catch (const std::runtime_error& error)
    {
        throw json_rpc::Refusal{json_rpc::Code::InvalidParams, "port " + port->Name() + ": " + error.what()};
    }
}

StationId ControlMethods::PortOf(const Json& params) const
{
    const auto ports = m_netbox.Ports();
    const auto wanted = params.value("port", Json());
    const auto found = std::ranges::find(ports, wanted, [](const auto& port) { return Json(port->Name()); });
    if (found == ports.end())
    {
        std::string names;
        for (const auto& port : ports)
        {
            names += (port == ports.front() ? "" : port == ports.back() ? " and " : ", ") + port->Name();
        }
        throw json_rpc::Refusal{json_rpc::Code::InvalidParams,
                                "no port is called " + wanted.dump() + ": there are " + names};
    }
    return static_cast<StationId>(found - ports.begin());
}

} // namespace netboxit
