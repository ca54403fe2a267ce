// SPDX-License-Identifier: GPL-2.0-or-later
#include "network.h"

#include "joined_port.h"
#include "netbox_run.h"
#include "ports.h"
#include "program.h"
#include "router.h"
#include "router_interface.h"
#include "segment_module.h"

#include "ns3/simulator.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <map>

namespace netboxit
{

namespace
{

/// How often it is asked whether all stations have their links.
const auto BETWEEN_LOOKS = ns3::MilliSeconds(50);
constexpr std::chrono::milliseconds BETWEEN_PROGRESS{250};

} // namespace

Network::Network(const NetworkConfiguration& configuration, EventQueue& events)
    : m_configuration(configuration), m_events(events), m_clock(events),
      m_loop(events, m_clock, m_end), m_course(configuration, *this)
{
    for (const auto& netbox : configuration.netboxes)
    {
        Add(netbox);
    }
    m_loop.Align(configuration.start.value_or(0), configuration.epoch);
    for (const auto& router : configuration.routers)
    {
        m_routers.push_back(std::make_unique<Router>(router, events, m_clock, m_loop.Wires()));
    }
    JoinWires();
    ScheduleBeginning();
    if (configuration.watched)
    {
        m_end.AlsoByInput();
        m_loop.NoticeProgress([this] { TellProgress(); });
    }
}

Network::~Network() = default;

std::unique_ptr<Netbox> Network::MakeNetbox(const Configuration& configuration)
{
    UseSeed(configuration.seed);
    try
    {
        auto netbox = FromConfiguration(
            [&]
            {
                return std::make_unique<Netbox>(configuration,
                                                LoadSegment(configuration.technology),
                                                OpenPorts(configuration, m_end),
                                                m_events,
                                                m_clock);
            });
        FromConfiguration([&] { m_loop.Add(*netbox); });
        netbox->TheJournal().Notice([this, &configuration](std::string_view event, const std::string& station)
                                    { m_course.Announced(configuration.name, event, station); });
        return netbox;
    }
    catch (const BadConfiguration& error)
    {
        throw BadConfiguration(configuration.name + ": " + error.what());
    }
}

void Network::Add(const Configuration& configuration)
{
    m_netboxes.push_back(MakeNetbox(configuration));
}

void Network::ScheduleBeginning()
{
    m_loop.EndAt(std::numeric_limits<std::int64_t>::max()); // not before its time began
    if (m_configuration.start)
    {
        ns3::Simulator::Schedule(ns3::NanoSeconds(*m_configuration.start), &Network::Begin, this);
    }
    else
    {
        ns3::Simulator::ScheduleNow(&Network::BeginWhenReady, this);
    }
}

void Network::BeginWhenReady()
{
    const auto late = std::ranges::find_if(m_netboxes, [](const auto& netbox) { return !netbox->TheSegment().Ready(); });
    if (late == m_netboxes.end())
    {
        for (const auto& netbox : m_netboxes)
        {
            netbox->TheSegment().Prepare();
        }
        ns3::Simulator::Schedule(ns3::NanoSeconds(m_configuration.settle), &Network::Begin, this);
    }
    else if (m_events.NowNs() < m_configuration.patience)
    {
        ns3::Simulator::Schedule(BETWEEN_LOOKS, &Network::BeginWhenReady, this);
    }
    else
    {
        throw std::runtime_error("node " + m_configuration.netboxes[static_cast<std::size_t>(late - m_netboxes.begin())].name +
                                 " is not ready after " + std::to_string(m_configuration.patience / 1'000'000'000) +
                                 " s: stations have not found their way into the network, or OSPF "
                                 "lacks neighbours or routes");
    }
}

void Network::Begin()
{
    m_course.Begin();
    for (std::size_t number = 0; number < m_netboxes.size(); ++number)
    {
        const auto& configuration = m_configuration.netboxes[number];
        m_netboxes[number]->Begin(configuration.interval);
    }
    for (const auto& netbox : m_netboxes)
    {
        for (const auto& port : netbox->Ports())
        {
            if (auto* const joined = dynamic_cast<JoinedPort*>(port.get()))
            {
                joined->BeginCapture();
            }
        }
    }
    m_began = m_events.NowNs();
    WriteTimes(nullptr);
    m_loop.EndAt(*m_began + m_configuration.duration);
}

void Network::WriteTimes(const Json& ended) const
{
    const Json began = m_began ? Json(m_clock.StampOf(*m_began)) : Json(nullptr);
    WriteJson(m_configuration.times, {{"began_ns", began}, {"ended_ns", ended}}, "the network's times");
}

void Network::TellProgress()
{
    const auto now = std::chrono::steady_clock::now();
    if (now - m_told >= BETWEEN_PROGRESS)
    {
        m_told = now;
        std::printf("%15.3f\n", static_cast<double>(m_events.NowNs() - m_began.value_or(m_events.NowNs())) / 1e9);
        std::fflush(stdout);
    }
}

void Network::JoinWires()
{
    std::map<std::string, WireEndpoint*> alone; // ends without a wire, by name
    for (const auto& netbox : m_netboxes)
    {
        for (StationId station = 0; station < netbox->Ports().size(); ++station)
        {
            if (auto* const port = dynamic_cast<JoinedPort*>(netbox->Ports()[station].get()))
            {
                port->BelongTo(*netbox, station, m_loop.Wires());
                alone[port->WireName()] = port;
            }
        }
    }
    for (std::size_t number = 0; number < m_routers.size(); ++number)
    {
        for (const auto& name : m_configuration.routers[number].interfaces)
        {
            auto* const interface = m_routers[number]->Interface(name);
            alone[interface->WireName()] = interface;
        }
    }
    const auto take = [&](const WireEndName& end)
    {
        auto found = alone.extract(end.node + "." + end.port);
        if (found.empty())
        {
            throw BadConfiguration("wires: " + end.node + "." + end.port +
                                   R"( is no station with a port of kind "joined" and no interface of a router, or has a wire already)");
        }
        return found.mapped();
    };
    for (const auto& names : m_configuration.wires)
    {
        const std::array ends{take(names[0]), take(names[1])};
        ends[0]->Join(*ends[1]);
        ends[1]->Join(*ends[0]);
        m_wires.push_back({.names = names, .ends = ends});
    }
    if (!alone.empty())
    {
        throw BadConfiguration("wires: none leads to " + alone.begin()->first);
    }
}

namespace
{

template <typename... Functions>
struct Overloaded : Functions...
{
    using Functions::operator()...;
};

} // namespace

void Network::Make(const Change& change)
{
    std::visit(Overloaded{[this](const ParameterChange& set)
                          {
                              if (m_off.contains(set.netbox))
                              {
                                  throw std::runtime_error("netbox " + set.netbox + " has no power, so nothing of it can be set");
                              }
                              m_netboxes[NetboxOf(set.netbox)]->Set(set.parameter, set.value);
                          },
                          [this](const HandlerWrite& write) { RouterOf(write.router).Write(write); },
                          [this](const ConfigurationChange& swap) { RouterOf(swap.router).Swap(swap.text); },
                          [this](const StagesChange& set) { RouterOf(set.router).SetStages(set.interface, set.stages); },
                          [this](const WireChange& wire)
                          {
                              m_wires[wire.wire].up = wire.up;
                              SetCarrier(m_wires[wire.wire]);
                          },
                          [this](const PowerChange& power) { SetPower(power.node, power.on); }},
               change);
}

std::uint64_t Network::Sent(const std::string& netbox, const std::string& station) const
{
    const auto ports = m_netboxes[NetboxOf(netbox)]->Ports();
    const auto found = std::ranges::find(ports, station, [](const auto& port) { return port->Name(); });
    return found == ports.end() ? 0 : (*found)->counters.sent;
}

std::size_t Network::NetboxOf(const std::string& name) const
{
    const auto found = std::ranges::find(m_configuration.netboxes, name, &Configuration::name);
    if (found == m_configuration.netboxes.end())
    {
        throw std::runtime_error("there is no netbox " + name);
    }
    return static_cast<std::size_t>(found - m_configuration.netboxes.begin());
}

Router& Network::RouterOf(const std::string& name) const
{
    const auto found = std::ranges::find(m_configuration.routers, name, &RouterConfiguration::name);
    if (found == m_configuration.routers.end())
    {
        throw std::runtime_error("there is no Click router " + name);
    }
    return *m_routers[static_cast<std::size_t>(found - m_configuration.routers.begin())];
}

void Network::SetPower(const std::string& node, bool on)
{
    if (m_off.contains(node) != on)
    {
        return;
    }
    const auto& routers = m_configuration.routers;
    const bool isRouter = std::ranges::find(routers, node, &RouterConfiguration::name) != routers.end();
    const auto number = isRouter ? 0 : NetboxOf(node);
    // A host or router with an Internet stack forgets what it knew when its interfaces lose their carriers.
    const bool isSegment = !isRouter && !m_netboxes[number]->TheSegment().IsEnd();
    if (on)
    {
        m_off.erase(node);
    }
    else
    {
        m_off.insert(node);
    }
    if (isRouter)
    {
        RouterOf(node).SetPower(on);
    }
    if (isSegment && on)
    {
        Restart(number);
    }
    SetCarriers(node);
    if (isSegment && !on)
    {
        Retire(number);
    }
}

void Network::SetCarriers(const std::string& node)
{
    for (const auto& wire : m_wires)
    {
        if (wire.names[0].node == node || wire.names[1].node == node)
        {
            SetCarrier(wire);
        }
    }
}

void Network::SetCarrier(const Wire& wire)
{
    const bool carrier = wire.up && !m_off.contains(wire.names[0].node) && !m_off.contains(wire.names[1].node);
    for (auto* const end : wire.ends)
    {
        end->SetCarrier(carrier);
    }
}

void Network::Retire(std::size_t number)
{
    const auto& configuration = m_configuration.netboxes[number];
    auto& netbox = *m_netboxes[number];
    netboxit::Conclude(configuration, netbox, netbox.Statistics());
    netbox.Records().End();
    netbox.TheJournal().End();
    const auto life = std::to_string(++m_lives[configuration.name]);
    for (const std::filesystem::path file : {configuration.records, configuration.journal, configuration.statistics})
    {
        if (!file.empty())
        {
            auto kept = file;
            kept.replace_extension("." + life + file.extension().string());
            std::filesystem::rename(file, kept);
        }
    }
}

void Network::Restart(std::size_t number)
{
    const auto& configuration = m_configuration.netboxes[number];
    m_retired.push_back(std::move(m_netboxes[number]));
    m_netboxes[number] = MakeNetbox(configuration);
    auto& netbox = *m_netboxes[number];
    for (StationId station = 0; station < netbox.Ports().size(); ++station)
    {
        if (auto* const port = dynamic_cast<JoinedPort*>(netbox.Ports()[station].get()))
        {
            port->BelongTo(netbox, station, m_loop.Wires());
            for (auto& [names, ends, up] : m_wires)
            {
                for (const auto end : {0U, 1U})
                {
                    if (ends[end]->WireName() == port->WireName())
                    {
                        ends[end] = port;
                        port->Join(*ends[1 - end]);
                        ends[1 - end]->Join(*port);
                    }
                }
            }
        }
    }
    BeginAgain(number, m_events.NowNs() + m_configuration.patience);
}

void Network::BeginAgain(std::size_t number, std::int64_t patience)
{
    auto& netbox = *m_netboxes[number];
    const auto& name = m_configuration.netboxes[number].name;
    if (m_off.contains(name))
    {
        return;
    }
    if (netbox.TheSegment().Ready())
    {
        netbox.Begin(m_configuration.netboxes[number].interval);
    }
    else if (m_events.NowNs() < patience)
    {
        ns3::Simulator::Schedule(BETWEEN_LOOKS, [this, number, patience] { BeginAgain(number, patience); });
    }
    else
    {
        throw std::runtime_error("netbox " + name + " was started anew, and is not ready: not all of its stations have found " +
                                 "their way into the network");
    }
}

int Network::Run()
{
    try
    {
        m_loop.Run();
    }
    catch (...)
    {
        try
        {
            Conclude();
        }
        catch (const std::exception& error)
        {
            std::cerr << error.what() << std::endl; // besides what ended the run
        }
        throw;
    }
    Conclude();
    return 0;
}

void Network::Conclude()
{
    for (std::size_t number = 0; number < m_netboxes.size(); ++number)
    {
        if (!m_off.contains(m_configuration.netboxes[number].name) || m_netboxes[number]->TheSegment().IsEnd())
        {
            auto& netbox = *m_netboxes[number];
            netboxit::Conclude(m_configuration.netboxes[number], netbox, netbox.Statistics());
        }
    }
    for (const auto& router : m_routers)
    {
        router->Conclude();
    }
    WriteTimes(m_clock.StampOf(m_events.NowNs()));
}

} // namespace netboxit
