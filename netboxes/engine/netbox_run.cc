// SPDX-License-Identifier: GPL-2.0-or-later
#include "netbox_run.h"

#include "ns3/simulator.h"

#include <cstring>
#include <fstream>

namespace netboxit
{

namespace
{

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

} // namespace

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

void ScheduleCourse(const Configuration& configuration, Netbox& netbox)
{
    ns3::Simulator::Schedule(ns3::NanoSeconds(configuration.start),
                             [interval = configuration.interval, &netbox] { netbox.Begin(interval); });
    ScheduleChanges(configuration, netbox);
}

void Conclude(const Configuration& configuration, Netbox& netbox, const Json& statistics)
{
    netbox.Records().WriteAll();
    netbox.TheJournal().Write();
    WriteStatistics(configuration.statistics, statistics);
}

} // namespace netboxit
