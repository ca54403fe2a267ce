// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "frame.h"
#include "headers.h"

#include <cstring>
#include <unordered_map>

namespace netboxit
{

/// Learns behind which station each MAC address is (IEEE 802.1Q clause 8.7: addresses age after 300 s), as a
/// modem with an Ethernet port does.
///
/// Every frame passes but PAUSE and other MAC control (EtherType 0x8808), which concerns one wire only and
/// would stop traffic on a wire that has room. Spanning tree, LLDP and the other link-local groups pass:
/// equipment behind a transparent modem sees its far neighbour.
class Bridge
{
  public:
    enum class Verdict
    {
        Forward,
        SameStation, ///< the destination is behind the station that the frame came from
        LinkControl, ///< MAC control, meant for the port itself
    };

    struct Decision
    {
        Verdict verdict;
        Destination to;
    };

    /// Decides about a frame from this station at a simulated time (ns), and learns its source.
    Decision Decide(const Headers& headers, StationId from, std::int64_t now);

    std::size_t Learned() const
    {
        return m_addresses.size();
    }

  private:
    struct Place
    {
        StationId station;
        std::int64_t heard;
    };

    void Learn(const MacAddress& address, StationId from, std::int64_t now);
    void Forget(std::int64_t now);

    std::unordered_map<std::uint64_t, Place> m_addresses;
    std::int64_t m_forgot{0};
};

} // namespace netboxit
