// SPDX-License-Identifier: GPL-2.0-or-later
#include "control_methods.h"

namespace netboxit
{

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
    throw json_rpc::Refusal{json_rpc::Code::MethodNotFound,
                            "no method \"" + method + "\": there are status, statistics, set and reset"};
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
        ports.push_back(port->Describe());
    }
    return {{"name", m_name},
            {"technology", m_technology},
            {"clock", "real"},
            {"simulated_s", static_cast<double>(m_events.NowNs()) / 1e9},
            {"scheduler", m_thread.Describe()},
            {"ports", ports},
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
        m_netbox.TheSegment().Set(parameter->get<std::string>(), *value);
    }
    catch (const std::invalid_argument& error)
    {
        throw json_rpc::Refusal{json_rpc::Code::InvalidParams, error.what()};
    }
    return {{"parameter", *parameter}, {"value", *value}};
}

} // namespace netboxit
