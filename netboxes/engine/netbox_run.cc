// SPDX-License-Identifier: GPL-2.0-or-later
#include "netbox_run.h"

#include "ns3/simulator.h"

#include <cstring>
#include <fstream>

namespace netboxit
{

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
    if (configuration.start == 0)
    {
        netbox.Begin(configuration.interval); // before what the segment does at time 0, which counts
    }
    else
    {
        ns3::Simulator::Schedule(ns3::NanoSeconds(configuration.start),
                                 [interval = configuration.interval, &netbox] { netbox.Begin(interval); });
    }
    ScheduleChanges(configuration, netbox);
}

void WriteJson(const std::string& path, const Json& content, const std::string& what)
{
    if (path.empty())
    {
        return;
    }
    std::ofstream file(path, std::ios::trunc);
    if (!(file << content.dump(1) << std::endl))
    {
        throw std::runtime_error("cannot write " + what + " to " + path + ": " + std::strerror(errno));
    }
}

void Conclude(const Configuration& configuration, Netbox& netbox, const Json& statistics)
{
    netbox.Records().WriteAll();
    netbox.TheJournal().Write();
    WriteJson(configuration.statistics, statistics, "statistics");
}

} // namespace netboxit
