// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "encapsulation.h"

#include <cstddef>
#include <deque>
#include <vector>

namespace netboxit
{

/// Packets waiting for a carrier: in one line, or in one line a traffic class of which the first non-empty
/// one is served. A packet that finds no room in its line is dropped.
class TransmitQueue
{
  public:
    /// `classes` lines when there is priority.
    TransmitQueue(std::size_t classes, bool priority);

    /// False when there is no room. An empty line takes any packet, however small `limit` (bytes of layer 3)
    /// is.
    bool Push(const Packet& packet, double limit);
    /// The packet that is next; null when all lines are empty.
    const Packet* Front() const;
    /// Nothing when all lines are empty.
    std::optional<Packet> Pop();
    /// A packet of any line that came before `since`; nothing when there is none.
    std::optional<Packet> PopOlder(ns3::Time since);
    std::size_t Packets() const
    {
        return m_packets;
    }
    std::uint64_t Bytes() const;
    /// Of the packets of one traffic class.
    std::uint64_t Bytes(ClassId trafficClass) const
    {
        return m_bytes[trafficClass];
    }
    std::size_t Packets(ClassId trafficClass) const
    {
        return m_counts[trafficClass];
    }

  private:
    struct Line
    {
        std::deque<Packet> packets;
        std::uint64_t bytes{};
    };

    std::optional<Packet> PopOf(std::vector<Line>::iterator line);

    std::vector<Line> m_lines;
    std::size_t m_packets{};
    std::vector<std::uint64_t> m_bytes; ///< by traffic class
    std::vector<std::size_t> m_counts;  ///< packets, by traffic class
};

} // namespace netboxit
