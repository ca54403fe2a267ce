// SPDX-License-Identifier: GPL-2.0-or-later
#include "netbox_run.h"
#include "ports.h"
#include "program.h"
#include "real_loop.h"
#include "virtual_loop.h"

namespace netboxit
{

namespace
{

std::unique_ptr<Netbox>
MakeNetbox(const Configuration& configuration, EventQueue& events, const Clock& clock, EndSignal& end)
{
    return FromConfiguration(
        [&]
        {
            return std::make_unique<Netbox>(
                configuration, MakeSegment, OpenPorts(configuration, end), events, clock);
        });
}

int RunVirtual(const Configuration& configuration, EventQueue& events)
{
    EndSignal end;
    VirtualClock clock(events);
    const auto netbox = MakeNetbox(configuration, events, clock, end);
    ScheduleCourse(configuration, *netbox);
    VirtualLoop loop(events, clock, end);
    if (configuration.duration)
    {
        loop.EndAt(*configuration.duration);
    }
    FromConfiguration([&] { loop.Add(*netbox); });
    loop.Align(configuration.start);
    const auto status = loop.Run();
    Conclude(configuration, *netbox, netbox->Statistics());
    return status;
}

int RunReal(const Configuration& configuration, EventQueue& events)
{
    EndSignal end;
    RealClock clock;
    const auto netbox = MakeNetbox(configuration, events, clock, end);
    ScheduleChanges(configuration, *netbox);
    const auto loop = FromConfiguration(
        [&] { return std::make_unique<RealLoop>(configuration, *netbox, events, clock, end); });
    const auto status = loop->Run();
    Conclude(configuration, *netbox, loop->Statistics());
    return status;
}

int Run(const std::string& path)
{
    const auto configuration = ReadConfiguration(ReadJson(path));
    const auto events = InstallEventQueue();
    UseSeed(configuration.seed);
    for (const auto& station : configuration.stations)
    {
        if (station.port.kind == PortKind::Joined)
        {
            throw BadConfiguration("stations: " + station.name +
                                   R"( has a port of kind "joined", to another netbox; this program runs one: use virtual-network)");
        }
    }
    return configuration.clock == ClockKind::Real ? RunReal(configuration, *events)
                                                  : RunVirtual(configuration, *events);
}

} // namespace

} // namespace netboxit

int main(int argc, char** argv)
{
    return netboxit::RunProgram(argc, argv, netboxit::Run);
}
