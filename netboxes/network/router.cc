// SPDX-License-Identifier: GPL-2.0-or-later
#include "router.h"

#include "netbox_run.h"
#include "router_interface.h"

#include "ns3/simulator.h"

namespace netboxit
{

using std::chrono::nanoseconds;

Router::Router(const RouterConfiguration& configuration,
               const EventQueue& events,
               const Clock& clock,
               VirtualWires& wires)
    : m_configuration(configuration), m_events(events), m_clock(clock), m_journal(configuration.journal, Now())
{
    for (const auto& name : configuration.interfaces)
    {
        m_interfaces.emplace(name, std::make_unique<RouterInterface>(*this, configuration.name, name, wires));
    }
    Start();
}

void Router::Start()
{
    try
    {
        m_click = std::make_unique<click::ClickRouter>(
            *this, m_configuration.configuration, m_configuration.defines, m_configuration.stages);
        m_click->Open(std::chrono::milliseconds::zero());
        if (m_swapped)
        {
            m_click->Swap(*m_swapped);
        }
    }
    catch (const std::exception& error)
    {
        throw BadConfiguration("router " + m_configuration.name + ": " + error.what());
    }
    m_next = ns3::Simulator::ScheduleNow(&Router::Wake, this);
}

Router::~Router() = default;

RouterInterface* Router::Interface(const std::string& name)
{
    const auto found = m_interfaces.find(name);
    return found == m_interfaces.end() ? nullptr : found->second.get();
}

void Router::Wake()
{
    const auto now = m_events.NowNs();
    m_withoutRest = now - m_last <= 1'000 ? m_withoutRest + 1 : 0;
    m_last = now;
    if (m_withoutRest > MOST_WITHOUT_REST)
    {
        throw std::runtime_error("router " + m_configuration.name + " never rests, at " +
                                 std::to_string(static_cast<double>(now) / 1e9) + " s: an element of " +
                                 m_configuration.configuration + " works as fast as it can; give it a rate");
    }
    Run();
}

void Router::Run()
{
    m_click->Round();
    m_next.Cancel();
    if (const auto idle = m_click->Idle())
    {
        m_next = ns3::Simulator::Schedule(ns3::NanoSeconds(idle->count()), &Router::Wake, this);
    }
}

void Router::Write(const HandlerWrite& write)
{
    if (m_click == nullptr)
    {
        throw std::runtime_error("router " + m_configuration.name + " has no power, so no handler can be written");
    }
    const auto answer = m_click->WriteHandler(write.element, write.handler, write.value);
    if (!answer.done)
    {
        throw std::runtime_error("router " + m_configuration.name + ": " + write.element + "." + write.handler +
                                 " does not take " + write.value + ": " + answer.messages);
    }
    Run();
}

void Router::Swap(const std::string& text)
{
    if (m_click == nullptr)
    {
        throw std::runtime_error("router " + m_configuration.name + " has no power, so no configuration can take over");
    }
    try
    {
        m_click->Swap(text);
    }
    catch (const std::exception& error)
    {
        throw std::runtime_error("router " + m_configuration.name + ": " + error.what());
    }
    m_swapped = text;
    Run();
}

void Router::SetStages(const std::string& interface, const Json& stages)
{
    if (m_click == nullptr)
    {
        throw std::runtime_error("router " + m_configuration.name + " has no power, so its stages cannot change");
    }
    try
    {
        m_click->SetStages(interface, stages);
    }
    catch (const std::exception& error)
    {
        throw std::runtime_error("router " + m_configuration.name + ": " + error.what());
    }
    Run();
}

void Router::SetPower(bool on)
{
    if (on && m_click == nullptr)
    {
        Start();
    }
    else if (!on)
    {
        m_next.Cancel();
        m_click.reset();
    }
}

void Router::Conclude()
{
    if (m_click != nullptr)
    {
        WriteJson(m_configuration.statistics, Json::parse(m_click->Statistics()), "statistics");
    }
}

nanoseconds Router::Now() const
{
    return nanoseconds(m_clock.StampOf(m_events.NowNs()));
}

std::unique_ptr<click::Device> Router::OpenDevice(const std::string& name, std::chrono::milliseconds)
{
    auto* const interface = Interface(name);
    if (interface == nullptr)
    {
        throw click::NoInterface("its configuration names interface '" + name + "', to which no wire leads");
    }
    return interface->Open();
}

void Router::Announce(const std::string& interface, std::string_view event, const Json& details)
{
    m_journal.Add(interface, event, details, Now());
}

void Router::Sample(const Json& statistics)
{
    m_journal.Sample(statistics, Now());
}

std::optional<std::string> Router::HardwareAddress(const std::string& name) const
{
    return m_interfaces.contains(name) ? click::DefinedAddress(m_configuration.defines, name) : std::nullopt;
}

} // namespace netboxit
