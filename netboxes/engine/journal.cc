// SPDX-License-Identifier: GPL-2.0-or-later
#include "journal.h"

#include "ns3/simulator.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

namespace netboxit
{

Journal::Journal(const Configuration& configuration, const EventQueue& events, const Clock& clock)
    : m_events(events), m_clock(clock), m_path(configuration.journal)
{
    std::ranges::transform(configuration.stations, std::back_inserter(m_stations), &StationConfiguration::name);
    if (!m_path.empty())
    {
        m_file = Descriptor(::open(m_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644),
                            "cannot write the journal to " + m_path);
    }
}

Journal::~Journal()
{
    Write();
}

void Journal::Begin(std::function<Json()> statistics, std::optional<std::int64_t> interval)
{
    m_next.Cancel();
    m_origin = m_events.NowNs();
    m_statistics = std::move(statistics);
    m_interval = interval.value_or(0);
    m_pending.clear();
    m_pendingLines = 0;
    m_latest.clear();
    m_written = 0;
    m_dropped = 0;
    if (m_path.empty())
    {
        return;
    }
    Checked(::ftruncate(m_file.Get(), 0), "cannot start the journal anew");
    Add({{"began_ns", m_clock.StampOf(m_origin)}});
    if (m_interval > 0)
    {
        Sample();
    }
}

void Journal::Sample()
{
    Add({{"at_s", Now()}, {"statistics", m_statistics()}});
    m_next = ns3::Simulator::Schedule(ns3::NanoSeconds(m_interval), &Journal::Sample, this);
}

void Journal::Announce(std::string_view event, std::optional<StationId> station, const Json& details)
{
    Json line{{"at_s", Now()}, {"event", event}};
    if (station)
    {
        line["station"] = m_stations.at(*station);
    }
    line.update(details);
    if (m_latest.size() == LATEST)
    {
        m_latest.pop_front();
    }
    m_latest.push_back(line);
    Add(line);
    m_notice(event, station ? m_stations.at(*station) : std::string());
}

void Journal::End()
{
    Write();
    m_next.Cancel();
    m_path.clear();
    m_notice = [](auto, const auto&) {};
}

void Journal::Record(std::string_view what, const Json& details)
{
    Json line{{"at_s", Now()}, {"record", what}};
    line.update(details);
    Add(line);
}

Json Journal::Latest() const
{
    return Json(m_latest);
}

void Journal::Add(const Json& line)
{
    if (m_path.empty())
    {
        return;
    }
    if (m_written + m_pending.size() > LONGEST)
    {
        ++m_dropped;
        return;
    }
    m_pending += line.dump() + '\n';
    ++m_pendingLines;
}

double Journal::Now() const
{
    return static_cast<double>(m_events.NowNs() - m_origin) / 1e9;
}

void Journal::Write()
{
    if (m_pending.empty())
    {
        return;
    }
    try
    {
        WriteWhole(m_file.Get(), m_pending.data(), m_pending.size(), m_written, "cannot write the journal");
        m_written += m_pending.size();
    }
    catch (const std::system_error&)
    {
        // A full disk must not stop the emulation; the statistics tell.
        m_dropped += m_pendingLines;
    }
    m_pending.clear();
    m_pendingLines = 0;
}

} // namespace netboxit
