// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "capacity.h"
#include "jitter.h"

#include "../engine/loss_counts.h"
#include "../errors/bit_errors.h"
#include "../errors/errors.h"
#include "../queueing/queue.h"

#include "ns3/event-impl.h"


namespace netboxit::link
{

/// One direction of a link: a queue, a transmitter with its rate, and a way on which frames are delayed, lost, damaged, repeated and
/// put out of order.
///
/// What the transmitter did is worked out afterwards, when a frame comes or arrives: the times of a queue's decisions are known
/// without an event for each. So a frame takes one event, its arrival, and a second one only where delays vary.
class Direction
{
  public:
    /// Frames come from station `from` and go to the other. Uses the stream numbers from STREAMS * from on.
    Direction(const SegmentSetup& setup, StationId from);
    ~Direction();

    Direction(const Direction&) = delete;
    Direction& operator=(const Direction&) = delete;

    static constexpr std::int64_t STREAMS = 16;

    void Send(const Frame& frame);

    /// Changes a parameter (names and base units as parameters.py dumps them); throws OutOfRange and then changes nothing. It is within
    /// the limits of parameters.py.
    void Set(std::string_view parameter, const Json& value);
    /// Whether it is down, for whatever reason: what is sent meanwhile is lost, or waits.
    void SetDown(bool down);
    void Begin();
    Json Read();
    /// bit/s now; 0 while it is down.
    double Rate() const;
    /// From the end of sending to the arrival now, ns, without jitter.
    std::int64_t Delay() const;
    /// Statistics count from now on.
    void Reset();

  private:
    class Wake;

    struct Outgoing
    {
        SlotId slot;
        std::uint32_t bytes;  ///< that it takes on the link
        std::uint32_t length; ///< of layer 3
    };

    struct Passage
    {
        SlotId slot;
        std::int64_t arrival;
        std::uint64_t number; ///< those that arrive together keep their order

        bool operator<(const Passage& other) const ///< for a heap with the first arrival on top
        {
            return arrival != other.arrival ? arrival > other.arrival : number > other.number;
        }
    };

    struct Counters
    {
        std::uint64_t sent{};
        std::uint64_t sentBytes{};
        std::uint64_t delivered{};
        std::uint64_t repeated{};
        std::uint64_t heldBack{};
        std::uint64_t damaged{};
        std::int64_t sending{}; ///< ns
        LossCounts lost;
    };

    void SetRate(const Json& value);
    void SetQueue(const Json& value);
    void SetReordering(const Json& value);
    void SetCorruption(const Json& value);
    void SetTrace(const Json& value);
    void ChooseCapacity();
    void BeginSeries();

    /// All that happened up to now.
    void Advance(std::int64_t now);
    /// When the next frame begins. One waits.
    std::int64_t NextBegins() const;
    void SendNext();
    /// A frame has left the transmitter.
    void Pass(SlotId slot, std::uint32_t length, const errors::Transmission& transmission);
    void Lose(SlotId slot, Loss reason);
    void Expect(std::int64_t now);
    void OnWake();

    Fates& m_fates;
    Frames& m_frames;
    StationId m_to;
    // What was said.
    std::uint32_t m_overhead{14};
    double m_rate{0};
    std::int64_t m_delay{0};
    double m_duplication{0};
    double m_reorderProbability{0};
    std::uint64_t m_reorderGap{1};
    std::int64_t m_reorderBy{0};
    bool m_dropsDamaged{false};
    bool m_waitsWhileDown{false};
    Json m_traceSaid;
    // What it is made of.
    ns3::Ptr<ns3::UniformRandomVariable> m_chance; ///< of duplication and reordering
    queueing::Chance m_queueChance;
    Jitter m_jitter;
    queueing::Chance m_lossChance;
    errors::Errors m_errors;
    errors::BitErrors m_bitErrors;
    std::unique_ptr<queueing::Queue<Outgoing>> m_queue;
    std::unique_ptr<Capacity> m_capacity;
    std::optional<Series> m_delayOverTime;
    std::optional<Series> m_lossOverTime;
    // What is going on.
    bool m_down{false};
    std::int64_t m_free{0};         ///< when the transmitter is
    std::int64_t m_waitingSince{0}; ///< when the queue got its first frame, or another queue, or the link came up again
    std::int64_t m_lastArrival{0};
    std::uint64_t m_number{0};
    std::uint64_t m_candidates{0};
    std::vector<Passage> m_way; ///< a heap: frames that have been sent and have not arrived
    ns3::Ptr<Wake> m_wake;
    std::int64_t m_expected;
    std::int64_t m_began{-1};
    Counters m_counters;
};

} // namespace netboxit::link
