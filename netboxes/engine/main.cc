// SPDX-License-Identifier: GPL-2.0-or-later
#include "ports.h"
#include "real_loop.h"
#include "virtual_loop.h"

#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <iostream>
#include <sstream>
#include <utility>

namespace netboxit
{

namespace
{

constexpr int FAILED = 1;
constexpr int BAD_CONFIGURATION = 2;

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

void ScheduleChanges(const Configuration& configuration, Netbox& netbox)
{
    for (const auto& change : configuration.changes)
    {
        ns3::Simulator::Schedule(ns3::NanoSeconds(change.at),
                                 [&change, &netbox]
                                 {
                                     try
                                     {
                                         netbox.Set(change.parameter, change.value);
                                     }
                                     catch (const std::invalid_argument& error)
                                     {
                                         throw BadConfiguration("events: " + std::string(error.what()));
                                     }
                                 });
    }
}

/// What is left when the loop has ended.
void Conclude(const Configuration& configuration, Netbox& netbox, const Json& statistics)
{
    netbox.Records().WriteAll();
    netbox.TheJournal().Write();
    WriteStatistics(configuration.statistics, statistics);
}

/// ns-3 ends the process when a value is not one of an attribute's, or an assertion does not hold. While the netbox is being made,
/// that is told as any other fault of the configuration: in one line, with its exit status.
class FatalWords
{
  public:
    FatalWords()
        : m_words(std::cerr.rdbuf(s_said.rdbuf())), m_times(std::clog.rdbuf(s_said.rdbuf())),
          m_end(std::set_terminate(Refuse))
    {
    }

    ~FatalWords()
    {
        std::set_terminate(m_end);
        std::clog.rdbuf(m_times);
        std::cerr.rdbuf(m_words);
        std::cerr << std::exchange(s_said, {}).str();
    }

    FatalWords(const FatalWords&) = delete;
    FatalWords& operator=(const FatalWords&) = delete;

  private:
    [[noreturn]] static void Refuse()
    {
        auto said = s_said.str();
        std::ranges::replace(said, '\n', ' ');
        std::fprintf(stderr, "netbox: ns-3 refuses the configuration: %s\n", said.c_str());
        std::_Exit(BAD_CONFIGURATION);
    }

    static inline std::ostringstream s_said;
    std::streambuf* m_words;
    std::streambuf* m_times;
    std::terminate_handler m_end;
};

/// Whatever goes wrong before the loop runs is the configuration's fault.
template <typename Maker>
auto FromConfiguration(Maker make)
{
    const FatalWords words;
    try
    {
        return make();
    }
    catch (const std::exception& error)
    {
        throw BadConfiguration(error.what());
    }
}

int RunVirtual(const Configuration& configuration, EventQueue& events)
{
    EndSignal end;
    VirtualClock clock(events);
    const auto netbox = FromConfiguration(
        [&]
        { return std::make_unique<Netbox>(configuration, OpenPorts(configuration, end), events, clock); });
    ns3::Simulator::Schedule(ns3::NanoSeconds(configuration.start),
                             [&] { netbox->Begin(configuration.interval); });
    ScheduleChanges(configuration, *netbox);
    const auto loop = FromConfiguration(
        [&] { return std::make_unique<VirtualLoop>(configuration, *netbox, events, clock, end); });
    const auto status = loop->Run();
    Conclude(configuration, *netbox, netbox->Statistics());
    return status;
}

int RunReal(const Configuration& configuration, EventQueue& events)
{
    EndSignal end;
    RealClock clock;
    const auto netbox = FromConfiguration(
        [&]
        { return std::make_unique<Netbox>(configuration, OpenPorts(configuration, end), events, clock); });
    ScheduleChanges(configuration, *netbox);
    const auto loop = FromConfiguration(
        [&] { return std::make_unique<RealLoop>(configuration, *netbox, events, clock, end); });
    const auto status = loop->Run();
    Conclude(configuration, *netbox, loop->Statistics());
    return status;
}

int Run(const std::string& path)
{
    const auto configuration = ReadConfiguration(path);
    const auto events = ns3::CreateObject<EventQueue>();
    ns3::Simulator::SetImplementation(events);
    ns3::Simulator::Run();                                // runs nothing, see EventQueue::Run
    ns3::RngSeedManager::SetSeed(configuration.seed + 1); // ns-3 knows no seed 0
    ns3::RngSeedManager::SetRun(1);
    return configuration.clock == ClockKind::Real ? RunReal(configuration, *events)
                                                  : RunVirtual(configuration, *events);
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
    catch (const netboxit::Interrupted&)
    {
        return 0;
    }
    catch (const netboxit::BadConfiguration& error)
    {
        std::cerr << argv[0] << ": " << error.what() << std::endl;
        return netboxit::BAD_CONFIGURATION;
    }
    catch (const std::exception& error)
    {
        std::cerr << argv[0] << ": " << error.what() << std::endl;
        return netboxit::FAILED;
    }
}
