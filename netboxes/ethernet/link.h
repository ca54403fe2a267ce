// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../engine/segment.h"

#include "ns3/event-id.h"
#include "ns3/event-impl.h"

#include <functional>
#include <vector>

namespace netboxit
{

/// One direction of an Ethernet link: a drop-tail queue, a transmitter, and the wire.
///
/// The times are those of ns-3's PointToPointNetDevice and PointToPointChannel to the nanosecond, as long as
/// rate and delay stay: test_link.cc compares. Theirs take three packets, with headers, and two events a frame;
/// here a frame's times are known when it comes, and one event, the same for all frames, takes it to its end.
class Link
{
  public:
    /// A frame, and what it took on the wire (bytes).
    using Arrival = std::function<void(SlotId, std::uint32_t)>;

    /// `queue`: frames that wait, apart from the one being sent.
    Link(std::size_t queue, Arrival arrival);
    ~Link();

    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    /// Frames that have not begun get the new rate (bit/s).
    void SetRate(std::uint64_t rate);
    /// Frames that have not begun get the new delay (ns), but none overtakes another.
    void SetDelay(std::int64_t delay);

    /// False when the queue is full. `bytes` are on the wire before the frame has arrived, the gap not counted.
    bool Send(SlotId slot, std::uint32_t bytes);

    /// The wire is cut, or joined again: all that waits or is on its way is lost, and `lost` told of each frame.
    void Clear(const std::function<void(SlotId)>& lost);

    /// Frames that wait now.
    std::size_t Queued() const;
    /// What has arrived, and how long it took the transmitter (s); what waits.
    Json Read() const;
    void Reset();

  private:
    class Event;

    struct Passage
    {
        SlotId slot;
        std::uint32_t bytes;
        std::int64_t start;
        std::int64_t duration;
        std::int64_t arrival;
    };

    Passage& At(std::size_t place)
    {
        return m_passages[(m_first + place) & (m_passages.size() - 1)];
    }

    /// How long so many bytes take.
    std::int64_t Duration(std::uint32_t bytes) const;
    /// Says when a frame begins, at `earliest` the soonest, and when it arrives.
    void Place(Passage& passage, std::int64_t earliest);
    /// Frames that have begun by now wait no more.
    void CountBegun(std::int64_t now);
    /// What has not begun is placed anew.
    void Replace();
    void ExpectFirst(std::int64_t now);
    void ExpectNothing();
    void ArriveFirst();

    std::size_t m_queue;
    Arrival m_arrival;
    std::uint64_t m_rate{1'000'000'000};
    std::int64_t m_delay{0};
    std::vector<Passage> m_passages; ///< a ring, its size a power of two: frames that have not arrived
    std::size_t m_first{0};
    std::size_t m_count{0};
    std::size_t m_begun{0};        ///< how many of them have left the queue
    std::int64_t m_free{0};        ///< when the transmitter is, the gap after its last frame included
    std::int64_t m_lastArrival{0}; ///< of the last frame placed
    std::uint64_t m_sent{0};
    std::uint64_t m_sending{0}; ///< how long the transmitter was busy with those, ns
    ns3::Ptr<Event> m_event;
    ns3::EventId m_expected;
};

} // namespace netboxit
