// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "outgoing.h"

#include "ns3/event-impl.h"

#include <functional>
#include <vector>

namespace netboxit
{

/// One direction of an Ethernet link: a queue, a transmitter, and the wire.
///
/// With `fifo` the times are those of ns-3's PointToPointNetDevice, DropTailQueue and PointToPointChannel to the nanosecond,
/// as long as rate and delay stay: test_link.cc compares. ns-3's take three packets, with headers, and two events a frame.
/// Here the queue is worked off afterwards, when a frame comes or arrives: the times of its decisions are known without an
/// event for each. One event, the same for all frames, takes a frame to its end; a second one comes before it only where
/// frames wait and the delay is shorter than the gap between them.
class Link
{
  public:
    using Arrival = std::function<void(const Outgoing&)>;
    using Lost = std::function<void(const Outgoing&, Loss)>;

    /// `queue` is a parameter, as queue.py dumps it; throws OutOfRange. It draws from the random stream of that number. `lost`
    /// is told of what the queue drops, and of what Clear takes away.
    Link(const Json& queue, std::int64_t stream, Frames& frames, Arrival arrival, Lost lost);
    ~Link();

    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    /// Frames that have not begun get the new rate (bit/s).
    void SetRate(std::uint64_t rate);
    /// Frames that have not begun get the new delay (ns), but none overtakes another.
    void SetDelay(std::int64_t delay);
    /// Throws OutOfRange and then changes nothing.
    void SetQueue(const Json& queue);

    void Send(const Outgoing& outgoing);

    /// The wire is cut, or joined again: all that waits or is on its way is lost.
    void Clear(Loss reason);

    /// The queue; what has arrived, and how long it took the transmitter (s).
    Json Read();
    void Reset();

  private:
    class Event;

    struct Passage
    {
        Outgoing outgoing;
        std::int64_t duration;
        std::int64_t arrival;
    };

    Passage& At(std::size_t place)
    {
        return m_passages[(m_first + place) & (m_passages.size() - 1)];
    }

    /// How long so many bytes take.
    std::int64_t Duration(std::uint32_t bytes) const;
    /// Sends what has begun by now.
    void Advance(std::int64_t now);
    /// When the next frame begins: the transmitter is free, and the queue is due.
    std::int64_t Begin() const;
    /// Sends the frame whose turn it is then.
    void BeginNext();
    void Expect(std::int64_t now);
    void ExpectNothing();
    void OnEvent();

    Frames& m_frames;
    Arrival m_arrival;
    Lost m_lost;
    queueing::Queue<Outgoing> m_queue;
    std::uint64_t m_rate{1'000'000'000};
    std::int64_t m_gap; ///< that it keeps after each frame, ns
    std::int64_t m_delay{0};
    std::vector<Passage> m_passages; ///< a ring, its size a power of two: frames that have begun and have not arrived
    std::size_t m_first{0};
    std::size_t m_count{0};
    std::int64_t m_free{0};        ///< when the transmitter is, the gap after its last frame included
    std::int64_t m_lastArrival{0}; ///< of the last frame that has begun
    std::uint64_t m_sent{0};
    std::uint64_t m_sending{0}; ///< how long the transmitter was busy with those, ns
    ns3::Ptr<Event> m_event;
    std::int64_t m_expected; ///< when m_event runs next
};

} // namespace netboxit
