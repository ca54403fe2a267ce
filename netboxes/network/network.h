// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "course.h"
#include "virtual_loop.h"

#include <chrono>
#include <map>
#include <set>

namespace netboxit
{

class Router;

/// A network in virtual time: netboxes and Click routers, joined by wires.
class Network : private Course::Targets
{
  public:
    ~Network() override;

    /// The configuration must outlive the network. Throws BadConfiguration.
    Network(const NetworkConfiguration& configuration, EventQueue& events);

    /// Runs until its duration is over, or SIGTERM or SIGINT comes. Whatever ends it, also an exception, the nodes leave their
    /// records.
    int Run();

  private:
    /// A wire, and whose ends it has.
    struct Wire
    {
        std::array<WireEndName, 2> names;
        std::array<WireEndpoint*, 2> ends;
        bool up{true}; ///< it is plugged in
    };

    std::unique_ptr<Netbox> MakeNetbox(const Configuration& configuration);
    void Add(const Configuration& configuration);
    void Make(const Change& change) override;
    std::uint64_t Sent(const std::string& netbox, const std::string& station) const override;
    void SetPower(const std::string& node, bool on);
    /// Its wires have carriers where they are plugged in and have power at both ends.
    void SetCarriers(const std::string& node);
    void SetCarrier(const Wire& wire);
    /// What it has measured stays in its files, beside those of the next one, as in a lab (docs/architecture.md, "Run folder").
    void Retire(std::size_t netbox);
    void Restart(std::size_t netbox);
    /// Its time begins when it is ready.
    void BeginAgain(std::size_t netbox, std::int64_t patience);
    std::size_t NetboxOf(const std::string& name) const;
    Router& RouterOf(const std::string& name) const;
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
    std::vector<Wire> m_wires; ///< in the order of the configuration
    std::set<std::string> m_off; ///< nodes without power
    std::vector<std::unique_ptr<Netbox>> m_retired; ///< their events go on, and nobody hears of them
    std::map<std::string, unsigned> m_lives;        ///< how often each netbox was started anew
    Course m_course;
};

} // namespace netboxit
