// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "segment.h"

#include "ns3/event-id.h"

#include <vector>

namespace netboxit
{

/// Tells the node at each port about its link: when that has changed, and each second. Stations whose segment says nothing of their links are
/// told nothing.
class Telemetry
{
  public:
    /// `stations` is how many there are. The segment and the frames outlive this.
    Telemetry(const Segment& segment, Frames& frames, std::size_t stations);
    ~Telemetry();

    Telemetry(const Telemetry&) = delete;
    Telemetry& operator=(const Telemetry&) = delete;

    /// Frames sent.
    std::uint64_t Sent() const
    {
        return m_sent;
    }

  private:
    struct Told
    {
        std::optional<LinkState> state;
        std::int64_t at{}; ///< simulated time, ns
    };

    void Look();

    const Segment& m_segment;
    Frames& m_frames;
    std::vector<Told> m_told; ///< by station
    ns3::EventId m_next;
    std::uint64_t m_sent{0};
};

} // namespace netboxit
