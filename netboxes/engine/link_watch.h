// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "segment.h"

#include "ns3/event-id.h"

#include <functional>
#include <vector>

namespace netboxit
{

/// Tells what stations' links are like: when that has changed, and each second. Of stations whose segment says nothing of their links nothing is
/// told.
class LinkWatch
{
  public:
    /// Told what a link is like now, and whether that is news. True: it was taken; otherwise it is told again.
    using Taker = std::function<bool(StationId station, const LinkState& state, bool isNew)>;

    /// `stations` is how many there are. The segment outlives this. Begins at once, from the simulator.
    LinkWatch(const Segment& segment, std::size_t stations, Taker taker);
    ~LinkWatch();

    LinkWatch(const LinkWatch&) = delete;
    LinkWatch& operator=(const LinkWatch&) = delete;

  private:
    struct Told
    {
        std::optional<LinkState> state;
        std::int64_t at{}; ///< simulated time, ns
    };

    void Look();

    const Segment& m_segment;
    Taker m_taker;
    std::vector<Told> m_told; ///< by station
    ns3::EventId m_next;
};

} // namespace netboxit
