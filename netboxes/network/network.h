// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "network_configuration.h"
#include "virtual_loop.h"

#include <chrono>

namespace netboxit
{

class Router;

/// A network in virtual time: netboxes and Click routers, joined by wires.
class Network
{
  public:
    ~Network();

    /// The configuration must outlive the network. Throws BadConfiguration.
    Network(const NetworkConfiguration& configuration, EventQueue& events);

    /// Runs until its duration is over, or SIGTERM or SIGINT comes. Whatever ends it, also an exception, the nodes leave their
    /// records.
    int Run();

  private:
    void Add(const Configuration& configuration);
    /// Has the network's time begin when it is to.
    void ScheduleBeginning();
    void BeginWhenReady();
    void Begin();
    void TellProgress();
    /// For whoever finds the folder of a run, also of one that was killed.
    void WriteTimes(const Json& ended) const;
    void JoinWires();
    void Conclude();

    const NetworkConfiguration& m_configuration;
    EventQueue& m_events;
    EndSignal m_end;
    std::optional<std::int64_t> m_began; ///< the network's time, ns of simulated time
    std::chrono::steady_clock::time_point m_told{};
    VirtualClock m_clock;
    VirtualLoop m_loop;
    std::vector<std::unique_ptr<Netbox>> m_netboxes; ///< in the order of the configuration
    std::vector<std::unique_ptr<Router>> m_routers;
};

} // namespace netboxit
