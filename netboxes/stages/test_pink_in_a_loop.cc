// SPDX-License-Identifier: GPL-2.0-or-later
#include "pink.h"

#include "test_events.h"
#include "test_frames.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

using namespace netboxit;
using namespace netboxit::stages;
using namespace netboxit::stages::testing;

namespace
{

constexpr std::int64_t MS = 1'000'000;
constexpr std::int64_t SECOND = 1000 * MS;
constexpr double RATE = 10e6; ///< bit/s
constexpr std::uint32_t MSS = 1000;
constexpr std::uint32_t PACKET = 1052; ///< bytes with the IP header
constexpr std::uint8_t SCALE = 7;

/// Senders that always have data and no congestion control, behind a queue without limit: Pink alone keeps it short. As in the paper's DSL
/// scenario the link has 10 Mbit/s, and the ACK of a segment comes 100 ms after the segment left the queue.
class Loop
{
  public:
    Loop(const Json& settings, std::int64_t rtt)
        : pink(settings, {1, 2}),
          rtt(rtt)
    {
    }

    /// A sender whose receiver never advertises more than `limit` bytes.
    void Start(std::int64_t at, std::uint32_t limit = 4'000'000)
    {
        senders.push_back({.limit = limit});
        events.At(at, [this, index = senders.size() - 1] { Open(index); });
    }

    void RunUntil(std::int64_t end)
    {
        events.RunUntil(end);
    }

    /// From here on measurements count.
    void Measure()
    {
        measuredFrom = events.Now();
        largestQueue = 0;
        for (auto& sender : senders)
        {
            sender.measured = sender.acknowledged;
        }
    }

    /// Payload of a sender since Measure(), bit/s.
    double Goodput(std::size_t sender) const
    {
        return (senders[sender].acknowledged - senders[sender].measured) * 8e9 / static_cast<double>(events.Now() - measuredFrom);
    }

    double Goodput() const
    {
        double sum = 0;
        for (std::size_t sender = 0; sender < senders.size(); ++sender)
        {
            sum += Goodput(sender);
        }
        return sum;
    }

    /// Waiting time of the last packet in the queue, as bytes.
    double LargestQueue() const
    {
        return largestQueue;
    }

    Json Read() const
    {
        return pink.Read(events.Now());
    }

  private:
    struct Sender
    {
        std::uint32_t limit;
        std::uint32_t next{1};
        std::uint32_t acknowledged{1};
        std::uint32_t edge{}; ///< of the window
        std::uint32_t measured{};
    };

    void Enter(const SegmentFrame& segment)
    {
        auto frame = Build(segment);
        pink.Entering(frame, ReadHeaders(frame), events.Now());
    }

    SegmentFrame FromSender(std::size_t index) const
    {
        return {.sourcePort = static_cast<std::uint16_t>(index + 1), .sequence = senders[index].next};
    }

    void Open(std::size_t index)
    {
        auto syn = FromSender(index);
        syn.sequence = 0;
        syn.flags = "S";
        syn.options = {2, 4, 3, 232, 3, 3, SCALE};
        Enter(syn);
        events.At(events.Now() + rtt, [this, index] { Acknowledge(index, 1, true); });
    }

    void Acknowledge(std::size_t index, std::uint32_t number, bool isSyn)
    {
        auto& sender = senders[index];
        SegmentFrame ack{.source = 0x0a000002,
                         .destination = 0x0a000001,
                         .sourcePort = 80,
                         .destinationPort = static_cast<std::uint16_t>(index + 1),
                         .acknowledgement = number,
                         .window = static_cast<std::uint16_t>(isSyn ? std::min(sender.limit, 10 * MSS) : sender.limit >> SCALE)};
        if (isSyn)
        {
            ack.flags = "SA";
            ack.options = {2, 4, 3, 232, 3, 3, SCALE};
        }
        auto frame = Build(ack);
        pink.Leaving(frame, ReadHeaders(frame), events.Now());
        const std::uint32_t window = BigEndian16(frame, TransportAt(frame) + 14);
        sender.acknowledged = number;
        sender.edge = std::max(sender.edge, number + (isSyn ? window : window << SCALE));
        while (sender.next + MSS <= sender.edge)
        {
            Send(index);
        }
    }

    void Send(std::size_t index)
    {
        auto data = FromSender(index);
        data.flags = "A";
        data.payload = MSS;
        Enter(data);
        senders[index].next += MSS;
        free = std::max(free, events.Now()) + static_cast<std::int64_t>(PACKET * 8e9 / RATE);
        largestQueue = std::max(largestQueue, static_cast<double>(free - events.Now()) * RATE / 8e9);
        events.At(free + rtt, [this, index, number = senders[index].next] { Acknowledge(index, number, false); });
    }

    Pink pink;
    std::int64_t rtt;
    std::int64_t free{}; ///< when the link has sent all that waits
    std::vector<Sender> senders;
    Events events;
    std::int64_t measuredFrom{};
    double largestQueue{};
};

Json Settings(double exploitation, const char* reallocation = "base", const Json& rttWindow = 10.0)
{
    return {{"rate", RATE}, {"exploitation", exploitation}, {"reallocation", reallocation}, {"rtt_window", rttWindow}};
}

} // namespace

TEST(PinkInALoopTest, TheLinkIsFullAndTheQueueBelowOneBandwidthDelayProduct)
{
    for (const int count : {2, 4, 16, 32})
    {
        Loop loop(Settings(0.95), 100 * MS);
        for (int sender = 0; sender < count; ++sender)
        {
            loop.Start(sender * 200 * MS);
        }
        loop.RunUntil(12 * SECOND);
        EXPECT_LE(loop.LargestQueue(), 125'000) << count; // Theorem 1: at any time
        loop.Measure();
        loop.RunUntil(20 * SECOND);
        EXPECT_GE(loop.Goodput(), 9.3e6) << count;
        EXPECT_LE(loop.LargestQueue(), 10 * PACKET) << count; // 8.4 ms: RTT within 10 % of the floor at the worst packet
        double square = 0;
        for (int sender = 0; sender < count; ++sender)
        {
            square += loop.Goodput(static_cast<std::size_t>(sender)) * loop.Goodput(static_cast<std::size_t>(sender));
        }
        EXPECT_GE(loop.Goodput() * loop.Goodput() / (count * square), 0.99) << count;
    }
}

TEST(PinkInALoopTest, AboveThePayloadsPartOfTheLinkAQueueStands)
{
    // Payload is at most 1000/1052 of the link: with a larger c the rest of the windows, 1.052 c - 1 of the product, always waits.
    for (const auto exploitation : {0.92, 0.95, 1.0})
    {
        Loop loop(Settings(exploitation, "base", Json()), 100 * MS); // the RTT of a life: without what waits
        for (int sender = 0; sender < 4; ++sender)
        {
            loop.Start(sender * 100 * MS);
        }
        loop.RunUntil(5 * SECOND);
        loop.Measure();
        loop.RunUntil(10 * SECOND);
        EXPECT_NEAR(loop.Goodput(), std::min(exploitation, 1000.0 / 1052) * RATE, 0.02 * RATE) << exploitation;
        EXPECT_NEAR(loop.LargestQueue(), std::max(1.052 * exploitation - 1, 0.0) * 125'000, 6 * PACKET) << exploitation;
    }
}

TEST(PinkInALoopTest, OneLimitedFlowLeavesItsRestToTheOthers)
{
    // Spec of X4: the second of up to 8 flows is limited to 2 Mbit/s; c = 0.95 of 10 Mbit/s is payload.
    for (const int count : {2, 3, 4, 5, 8})
    {
        for (const bool reallocates : {false, true})
        {
            Loop loop(Settings(0.95, reallocates ? "base" : "none"), 100 * MS);
            loop.Start(0, 25'088);
            for (int sender = 1; sender < count; ++sender)
            {
                loop.Start(sender * 100 * MS);
            }
            loop.RunUntil(5 * SECOND);
            loop.Measure();
            loop.RunUntil(15 * SECOND);
            const double limited = std::min(2e6, 9.5e6 / count);
            EXPECT_NEAR(loop.Goodput(0), limited, 0.05 * limited) << count;
            const double other = reallocates ? (9.5e6 - limited) / (count - 1) : 9.5e6 / count;
            EXPECT_NEAR(loop.Goodput(1), other, 0.05 * other) << count << reallocates;
        }
    }
}
