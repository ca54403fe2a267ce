// SPDX-License-Identifier: GPL-2.0-or-later
#include "program.h"

#include "loop.h"

#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace netboxit
{

namespace
{

constexpr int FAILED = 1;
constexpr int BAD_CONFIGURATION = 2;

} // namespace

int RunProgram(int argc, char** argv, int (*run)(const std::string& path))
{
    if (argc != 2)
    {
        std::cerr << "usage: " << argv[0] << " CONFIGURATION.json" << std::endl;
        return BAD_CONFIGURATION;
    }
    try
    {
        return run(argv[1]);
    }
    catch (const Interrupted&)
    {
        return 0;
    }
    catch (const BadConfiguration& error)
    {
        std::cerr << argv[0] << ": " << error.what() << std::endl;
        return BAD_CONFIGURATION;
    }
    catch (const std::exception& error)
    {
        std::cerr << argv[0] << ": " << error.what() << std::endl;
        return FAILED;
    }
}

ns3::Ptr<EventQueue> InstallEventQueue()
{
    const auto events = ns3::CreateObject<EventQueue>();
    ns3::Simulator::SetImplementation(events);
    ns3::Simulator::Run(); // runs nothing, see EventQueue::Run
    return events;
}

void UseSeed(std::uint32_t seed)
{
    ns3::RngSeedManager::SetSeed(seed + 1); // ns-3 knows no seed 0
    ns3::RngSeedManager::SetRun(1);
}

FatalWords::FatalWords()
    : m_words(std::cerr.rdbuf(s_said.rdbuf())), m_times(std::clog.rdbuf(s_said.rdbuf())), m_end(std::set_terminate(Refuse))
{
}

FatalWords::~FatalWords()
{
    std::set_terminate(m_end);
    std::clog.rdbuf(m_times);
    std::cerr.rdbuf(m_words);
    std::cerr << std::exchange(s_said, {}).str();
}

void FatalWords::Refuse()
{
    auto said = s_said.str();
    std::ranges::replace(said, '\n', ' ');
    std::fprintf(stderr, "netbox: ns-3 refuses the configuration: %s\n", said.c_str());
    std::_Exit(BAD_CONFIGURATION);
}

} // namespace netboxit
