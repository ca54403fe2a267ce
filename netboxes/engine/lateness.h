// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "histogram.h"

#include <nlohmann/json.hpp>

#include <ostream>

namespace netboxit
{

/// How far behind the clock the netbox was: of each event (when it ran minus when it was due) and of each
/// departing frame (when its bytes were handed over minus the simulated time of its arrival at the far
/// station).
class Lateness
{
  public:
    explicit Lateness(std::int64_t limitNs) : m_limit(limitNs)
    {
    }

    void RecordEvent(std::int64_t due, std::int64_t lateness)
    {
        Record(m_events, m_missedEvents, due, lateness, "event");
    }

    void RecordFrame(std::int64_t due, std::int64_t lateness)
    {
        Record(m_frames, m_missedFrames, due, lateness, "frame");
    }

    void Reset();

    /// How often the limit was exceeded since the last Reset().
    std::uint64_t Missed() const
    {
        return m_missedEvents + m_missedFrames;
    }

    /// {"event": {count, missed, up_to}, "frame": {…}} in us: what can be read often.
    nlohmann::json Counts() const;
    /// The same with percentiles.
    nlohmann::json Read() const;
    /// The first few misses: [{"at_s", "what", "lateness_us"}].
    nlohmann::json ReadMisses() const;
    /// The first miss, of which there must be one, in a line for the user.
    void Tell(std::ostream& stream) const;

  private:
    struct Miss
    {
        std::int64_t due;
        std::int64_t lateness;
        const char* what;
    };

    void Record(Histogram& histogram,
                std::uint64_t& missed,
                std::int64_t due,
                std::int64_t lateness,
                const char* what);

    std::int64_t m_limit;
    Histogram m_events;
    Histogram m_frames;
    std::uint64_t m_missedEvents{0};
    std::uint64_t m_missedFrames{0};
    std::vector<Miss> m_misses;
};

} // namespace netboxit
