// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "numbered_frame.h"
#include "timetable.h"

#include "../engine/segment.h"

#include "ns3/event-id.h"

#include <memory>

namespace netboxit
{

/// What one station sends. A stream that gets late sends a few frames in one event; when it is later than PATIENCE, it passes over
/// what it should have sent before, and counts that.
class Stream
{
  public:
    Stream(StationId station, Frames& frames, std::shared_ptr<Timetable> timetable, std::shared_ptr<FrameSource> source);

    /// Begins anew at the present simulated time, or stops. Sequence numbers go on.
    void SetActive(bool active);
    void SetRate(double rate);
    void SetSize(std::size_t size);
    /// Stops `count` frames after the start; 0: never.
    void SetCount(std::uint64_t count);

    Json Read() const;
    void Reset();

    /// As long as that, the netbox's ordinary lateness is made up for.
    static constexpr std::int64_t PATIENCE = 1'000'000;

  private:
    struct Counters
    {
        std::uint64_t emitted{};
        std::uint64_t bytes{};   ///< with FCS
        std::uint64_t refused{}; ///< the netbox was full, or the frame too long for the port
        std::uint64_t behind{};  ///< passed over
        std::int64_t first{};    ///< departure, ns since 1970
        std::int64_t last{};
    };

    void Depart();
    void Send(std::int64_t stamp);
    void Expect();
    bool IsOver() const;

    StationId m_station;
    Frames& m_frames;
    std::shared_ptr<Timetable> m_timetable;
    std::shared_ptr<FrameSource> m_source;
    ns3::EventId m_departure;
    bool m_active{false};
    std::uint64_t m_count{0};
    std::uint64_t m_sinceStart{0};
    std::uint64_t m_sequence{0};
    Counters m_counters;
};

} // namespace netboxit
