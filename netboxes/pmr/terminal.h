// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../engine/segment.h"

#include <deque>

namespace netboxit
{

/// A layer-3 packet that waits or is being sent.
struct Packet
{
    SlotId slot;
    std::uint32_t length{}; ///< bytes
    ClassId trafficClass{};
    StationId from{};
    std::optional<StationId> to; ///< none: everyone, a group call
    std::int64_t queued{};       ///< ns, when
};

/// A station's queue and counters. Named after what most of them are; the base station has one, too.
class Terminal
{
  public:
    explicit Terminal(std::size_t size) : m_size(size)
    {
    }

    /// False when the queue is full. Behind its class, before the classes declared later.
    bool Enqueue(const Packet& packet);
    /// Back to the front of its class, when it was interrupted.
    void PutBack(const Packet& packet);
    /// The first packet to this destination.
    std::optional<Packet> TakeTo(std::optional<StationId> to);
    const Packet* FirstTo(std::optional<StationId> to) const;
    /// All that `condition` holds of, taken out.
    template <typename Condition>
    std::vector<Packet> TakeIf(Condition&& condition)
    {
        std::vector<Packet> taken;
        std::erase_if(m_queue,
                      [&](const Packet& packet)
                      {
                          const bool goes = condition(packet);
                          if (goes)
                          {
                              taken.push_back(packet);
                          }
                          return goes;
                      });
        return taken;
    }

    const std::deque<Packet>& Queue() const
    {
        return m_queue;
    }

    Json Read() const;
    void Reset();

    struct Counters
    {
        std::uint64_t packetsSent{};
        std::uint64_t blocksSent{}; ///< slots used
        std::uint64_t blocksLost{};
        std::uint64_t blocksRepeated{};
        std::uint64_t accesses{};
        std::uint64_t accessCollisions{};
        std::uint64_t calls{};
        std::uint64_t callsPreempted{};
        double setupTime{}; ///< s, of all calls, from the wish to the channel
        std::array<std::uint64_t, LOSS_NAMES.size()> lost{};
    };

    Counters counters;

  private:
    std::size_t m_size;
    std::deque<Packet> m_queue;
};

} // namespace netboxit
