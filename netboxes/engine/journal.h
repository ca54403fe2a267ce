// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "clock.h"
#include "configuration.h"
#include "descriptor.h"
#include "event_queue.h"

#include <deque>
#include <functional>

namespace netboxit
{

/// What happens in a netbox, and its segment's statistics as a series, one JSON object a line (docs/architecture.md, "Journal").
/// Lines are kept in memory and written when the loop has nothing better to do.
class Journal : public Announcements
{
  public:
    /// Without a path nothing is written.
    Journal(const Configuration& configuration, const EventQueue& events, const Clock& clock);
    ~Journal() override;

    Journal(const Journal&) = delete;
    Journal& operator=(const Journal&) = delete;

    /// Starts the file anew: its time 0 is now. With an `interval` (ns), it has what `statistics` returns, now and at each interval from
    /// now on.
    void Begin(std::function<Json()> statistics, std::optional<std::int64_t> interval);

    void Announce(std::string_view event, std::optional<StationId> station, const Json& details) override;
    void Record(std::string_view what, const Json& details) override;

    /// `notice` is called with what is announced, and the name of the station that it is said of, empty without one.
    void Notice(std::function<void(std::string_view event, const std::string& station)> notice)
    {
        m_notice = std::move(notice);
    }

    /// Writes what is pending; nothing comes to the file any more.
    void End();

    /// The latest announcements, oldest first, at most LATEST.
    Json Latest() const;

    bool HasWork() const
    {
        return !m_pending.empty();
    }

    /// Writing can wait no longer for an idle moment.
    bool IsPressing() const
    {
        return m_pending.size() > PRESSING;
    }

    /// Writes all that is pending. What the disk refuses is lost, and counted.
    void Write();

    /// Lines that were not kept: the file had its greatest length, or the disk refused them.
    std::uint64_t Dropped() const
    {
        return m_dropped;
    }

  private:
    static constexpr std::size_t LATEST = 100;
    static constexpr std::size_t PRESSING = 1 << 18;
    static constexpr std::uint64_t LONGEST = 64 << 20; ///< bytes of a file: a day of a small netbox's seconds

    void Sample();
    void Add(const Json& line);
    double Now() const;

    const EventQueue& m_events;
    const Clock& m_clock;
    std::string m_path;
    Descriptor m_file;
    std::vector<std::string> m_stations;
    std::int64_t m_origin{0};
    std::function<Json()> m_statistics;
    std::int64_t m_interval{};
    ns3::EventId m_next;
    std::string m_pending;
    std::uint64_t m_pendingLines{0};
    std::uint64_t m_written{0}; ///< bytes
    std::uint64_t m_dropped{0};
    std::deque<Json> m_latest;
    std::function<void(std::string_view, const std::string&)> m_notice{[](auto, const auto&) {}};
};

} // namespace netboxit
