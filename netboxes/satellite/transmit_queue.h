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
    /// Nothing when all lines are empty.
    std::optional<Packet> Pop();
    std::size_t Packets() const;
    std::uint64_t Bytes() const;

  private:
    struct Line
    {
        std::deque<Packet> packets;
        std::uint64_t bytes{};
    };

    std::vector<Line> m_lines;
};

} // namespace netboxit
