// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../engine/loss_counts.h"

#include "ns3/nstime.h"

#include <vector>

namespace netboxit::wimax
{

/// An Ethernet frame on one hop of the cell: a subscriber to the base station, or the base station to one or
/// more subscribers.
struct Sdu
{
    Frame frame;
    StationId from{};                 ///< whose port it came in by
    Destination to;                   ///< where it shall go in the end
    std::vector<StationId> receivers; ///< of this hop
    std::vector<bool> corrupted;      ///< by receiver: a fragment was lost
    bool uplink{};
    std::uint32_t bytes{}; ///< with Ethernet header
    std::uint32_t sent{};  ///< bytes put into PDUs so far
    ns3::Time enqueued;
};

/// Tells the engine what became of frames, and counts it by subscriber station.
class Accounts
{
  public:
    Accounts(Fates& fates, Frames& frames, std::size_t stations);

    /// The frame leaves the cell at `station`; `subscriber` is the one whose link it came over.
    void Deliver(const Sdu& sdu, StationId station, StationId subscriber);
    /// All receivers of this hop will get the frame marked, if its packet is capable of ECN.
    bool MarkCongestion(const Sdu& sdu);
    /// No receiver of this hop will get it, nor will those that it would have gone to afterwards.
    void Lose(const Sdu& sdu, Loss reason);
    /// One receiver of a downlink hop will not get it.
    void LoseCopy(const Sdu& sdu, StationId receiver, Loss reason);
    /// The frame never got as far as a queue: the copy for `destination`.
    void Refuse(const Frame& frame, StationId destination, StationId subscriber, Loss reason);
    void RefuseAll(const Frame& frame, StationId subscriber, Loss reason);

    Json Read(StationId subscriber) const;
    /// Counts from now on.
    void Reset();

  private:
    struct Counters
    {
        std::uint64_t uplinkFrames{};
        std::uint64_t downlinkFrames{};
        LossCounts lost;
    };

    void Count(StationId subscriber, Loss reason)
    {
        ++m_counters[subscriber].lost[reason];
    }

    Fates& m_fates;
    Frames& m_frames;
    std::vector<Counters> m_counters;
};

} // namespace netboxit::wimax
