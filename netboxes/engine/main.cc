// SPDX-License-Identifier: GPL-2.0-or-later
#include "pcapng_port.h"
#include "virtual_loop.h"

#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"

#include <csignal>
#include <cstring>
#include <fstream>
#include <iostream>

namespace netboxit
{

namespace
{

constexpr int BAD_CONFIGURATION = 2;
constexpr std::uint32_t DEFAULT_MTU = 1500;

/// Statistics outlive the netbox: written at its end.
void WriteStatistics(const std::string& path, const Json& statistics)
{
    if (path.empty())
    {
        return;
    }
    std::ofstream file(path, std::ios::trunc);
    if (!(file << statistics.dump(1) << std::endl))
    {
        throw std::runtime_error("cannot write statistics to " + path + ": " + std::strerror(errno));
    }
}

void ScheduleChanges(const Configuration& configuration, Segment& segment)
{
    for (const auto& change : configuration.changes)
    {
        ns3::Simulator::Schedule(ns3::NanoSeconds(change.at),
                                 [&change, &segment]
                                 {
                                     try
                                     {
                                         segment.Set(change.parameter, change.value);
                                     }
                                     catch (const std::invalid_argument& error)
                                     {
                                         throw BadConfiguration("events: " + std::string(error.what()));
                                     }
                                 });
    }
}

std::vector<std::unique_ptr<Port>> OpenCaptures(const Configuration& configuration)
{
    std::vector<std::unique_ptr<Port>> ports;
    for (const auto& station : configuration.stations)
    {
        const auto mtu = station.mtu == 0 ? DEFAULT_MTU : station.mtu;
        ports.push_back(std::make_unique<PcapngPort>(station.name, station.input, station.output, mtu));
    }
    return ports;
}

int RunVirtual(const Configuration& configuration, EventQueue& events)
{
    EndSignal end;
    VirtualClock clock(events);
    Netbox netbox(configuration, OpenCaptures(configuration), events, clock);
    ScheduleChanges(configuration, netbox.TheSegment());
    const auto status = VirtualLoop(configuration, netbox, events, clock, end).Run();
    netbox.Records().WriteAll();
    WriteStatistics(configuration.statistics, netbox.Statistics());
    return status;
}

int Run(const std::string& path)
{
    const auto configuration = ReadConfiguration(path);
    const auto events = ns3::CreateObject<EventQueue>();
    ns3::Simulator::SetImplementation(events);
    ns3::RngSeedManager::SetSeed(configuration.seed + 1); // ns-3 knows no seed 0
    ns3::RngSeedManager::SetRun(1);
    return RunVirtual(configuration, *events);
}

} // namespace

} // namespace netboxit

int main(int argc, char** argv)
{
    if (argc != 2)
    {
        std::cerr << "usage: " << argv[0] << " CONFIGURATION.json" << std::endl;
        return netboxit::BAD_CONFIGURATION;
    }
    try
    {
        return netboxit::Run(argv[1]);
    }
    catch (const std::exception& error)
    {
        std::cerr << argv[0] << ": " << error.what() << std::endl;
        return netboxit::BAD_CONFIGURATION;
    }
}
