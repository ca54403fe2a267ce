// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "click_router.h"
#include "clock.h"
#include "event_journal.h"
#include "network_configuration.h"
#include "virtual_wires.h"

#include "ns3/event-id.h"

namespace netboxit
{

class RouterInterface;

/// A Click router in virtual time. It forwards in no time, as far as its configuration does not wait.
class Router : public click::Surroundings
{
  public:
    /// Throws BadConfiguration; Click itself may end the process, with its messages and exit status 2.
    Router(const RouterConfiguration& configuration, const EventQueue& events, const Clock& clock, VirtualWires& wires);
    ~Router() override;

    /// The end of a wire; null when the router has no interface of this name.
    RouterInterface* Interface(const std::string& name);

    /// Gives Click what has entered, and the time, and comes again when Click wants to.
    void Run();

    /// Throws std::runtime_error with what Click says where it does not take it.
    void Write(const HandlerWrite& write);
    /// Another configuration takes over, also when it is started again. Throws as click::ClickRouter::Swap.
    void Swap(const std::string& text);
    /// Until it is started again. Throws std::runtime_error.
    void SetStages(const std::string& interface, const Json& stages);
    /// Without power it is nobody; with it, it starts anew.
    void SetPower(bool on);

    /// Writes its statistics, if they have a path.
    void Conclude();

    std::chrono::nanoseconds Now() const override;
    std::unique_ptr<click::Device> OpenDevice(const std::string& name, std::chrono::milliseconds wait) override;
    void Announce(const std::string& interface, std::string_view event, const Json& details) override;
    void Sample(const Json& statistics) override;
    std::optional<std::string> HardwareAddress(const std::string& name) const override;

  private:
    /// How often Click, which counts in microseconds, may want to come again at the next one; 256 tasks each time.
    static constexpr unsigned MOST_WITHOUT_REST = 10'000;

    void Start();
    void Wake();

    const RouterConfiguration& m_configuration;
    const EventQueue& m_events;
    const Clock& m_clock;
    click::EventJournal m_journal;
    std::map<std::string, std::unique_ptr<RouterInterface>> m_interfaces;
    std::unique_ptr<click::ClickRouter> m_click;
    std::optional<std::string> m_swapped; ///< the configuration that took over last
    ns3::EventId m_next;
    std::int64_t m_last{-1};
    unsigned m_withoutRest{0};
};

} // namespace netboxit
