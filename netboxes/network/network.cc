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
#include <functional>
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
      m_loop(events, m_clock, m_end)
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

void Network::Add(const Configuration& configuration)
{
    UseSeed(configuration.seed);
    try
    {
        m_netboxes.push_back(FromConfiguration(
            [&]
            {
                return std::make_unique<Netbox>(configuration,
                                                LoadSegment(configuration.technology),
                                                OpenPorts(configuration, m_end),
                                                m_events,
                                                m_clock);
            }));
        FromConfiguration([&] { m_loop.Add(*m_netboxes.back()); });
    }
    catch (const BadConfiguration& error)
    {
        throw BadConfiguration(configuration.name + ": " + error.what());
    }
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
    for (std::size_t number = 0; number < m_netboxes.size(); ++number)
    {
        const auto& configuration = m_configuration.netboxes[number];
        m_netboxes[number]->Begin(configuration.interval);
        ScheduleChanges(configuration, *m_netboxes[number]);
    }
    for (const auto& router : m_routers)
    {
        router->Begin();
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
    /// Ends without a wire, by name: each of them, and how it is joined to another one.
    struct End
    {
        WireEndpoint* endpoint;
        std::function<void(WireEndpoint&)> join;
    };
    std::map<std::string, End> alone;
    for (const auto& netbox : m_netboxes)
    {
        for (StationId station = 0; station < netbox->Ports().size(); ++station)
        {
            if (auto* const port = dynamic_cast<JoinedPort*>(netbox->Ports()[station].get()))
            {
                port->BelongTo(*netbox, station, m_loop.Wires());
                alone[port->WireName()] = {port, [port](auto& other) { port->Join(other); }};
            }
        }
    }
    for (std::size_t number = 0; number < m_routers.size(); ++number)
    {
        for (const auto& name : m_configuration.routers[number].interfaces)
        {
            auto* const interface = m_routers[number]->Interface(name);
            alone[interface->WireName()] = {interface, [interface](auto& other) { interface->Join(other); }};
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
        return std::move(found.mapped());
    };
    for (const auto& [left, right] : m_configuration.wires)
    {
        const auto here = take(left);
        const auto there = take(right);
        here.join(*there.endpoint);
        there.join(*here.endpoint);
    }
    if (!alone.empty())
    {
        throw BadConfiguration("wires: none leads to " + alone.begin()->first);
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
        auto& netbox = *m_netboxes[number];
        netboxit::Conclude(m_configuration.netboxes[number], netbox, netbox.Statistics());
    }
    for (const auto& router : m_routers)
    {
        router->Conclude();
    }
    WriteTimes(m_clock.StampOf(m_events.NowNs()));
}

} // namespace netboxit
