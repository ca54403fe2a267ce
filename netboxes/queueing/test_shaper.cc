// SPDX-License-Identifier: GPL-2.0-or-later
#include "queue.h"
#include "test_random.h"

#include <gtest/gtest.h>

using namespace netboxit;
using namespace netboxit::queueing;

namespace
{

constexpr std::int64_t MS = 1'000'000;
constexpr double LINK = 100e6;

struct Departure
{
    std::int64_t time;
    double service; ///< of the packet at the queue's own rate, ns
};

/// A transmitter that asks its queue when both are ready. Packets are their own bytes.
class Transmitter
{
  public:
    explicit Transmitter(const Json& said)
        : queue(said, [] { return 0.5; }, [](int, Loss) { FAIL() << "there is room"; }, {}, MakerOf(), Asks::WhenDue),
          m_rate(said.at("rate")), m_overhead(said.value("overhead", 0.0))
    {
    }

    void Put(int bytes, std::int64_t now)
    {
        queue.Enqueue(bytes, {static_cast<std::uint32_t>(bytes), {}, {}}, now, LINK);
    }

    /// Sends what begins by then.
    void SendUntil(std::int64_t now)
    {
        for (auto begin = Begin(); !queue.IsEmpty() && begin <= now; begin = Begin())
        {
            const auto bytes = queue.Dequeue(begin);
            ASSERT_TRUE(bytes);
            departures.push_back({begin, 8e9 * (*bytes + m_overhead) / m_rate});
            free = begin + static_cast<std::int64_t>(8e9 * *bytes / LINK);
        }
        latest = now;
    }

    Queue<int> queue;
    std::int64_t free{0};
    std::int64_t latest{0}; ///< nothing that comes now goes before
    std::vector<Departure> departures;

  private:
    std::int64_t Begin() const
    {
        return std::max({free, queue.Due(), latest});
    }

    double m_rate;
    double m_overhead;
};

} // namespace

TEST(Shaper, LetsNoMoreGoInAnyIntervalThanTheRateAndAPacket)
{
    Random random(1);
    for (const double rate : {9.7e6, 33e6, 99.9e6})
    {
        Transmitter transmitter({{"discipline", "fifo"}, {"rate", rate}, {"overhead", 38.0}});
        std::int64_t now = 0;
        while (transmitter.departures.size() < 1500)
        {
            now += random.Below(20) == 0 ? 50 * MS : random.Below(2 * MS);
            transmitter.SendUntil(now);
            for (auto burst = random.Below(6); burst > 0; --burst)
            {
                transmitter.Put(static_cast<int>(random.Length()), now);
            }
        }
        const auto& sent = transmitter.departures;
        for (std::size_t first = 0; first < sent.size(); ++first)
        {
            double service = 0;
            for (auto last = first + 1; last < sent.size(); ++last)
            {
                // From when a packet goes until another one does, the packets from the first one on, but for the last one, have their time.
                service += sent[last - 1].service;
                ASSERT_GE(static_cast<double>(sent[last].time - sent[first].time), service - 1) << first << " to " << last;
            }
        }
    }
}

TEST(Shaper, SendsAtItsRateToTheNanosecondWhileSomethingWaits)
{
    // 40 bytes at 7 Gbit/s take 45.7 ns: what is rounded away each time would be 0.6 % of the rate.
    Shaper shaper;
    shaper.Set(7e9, 0);
    std::int64_t now = 12345;
    for (int packet = 0; packet < 1'000'000; ++packet)
    {
        shaper.Sent(40, now);
        now = shaper.Due();
    }
    EXPECT_NEAR(static_cast<double>(now - 12345), 1e6 * 320 / 7, 1);
}

TEST(Shaper, DelaysNobodyWhoComesToAnIdleQueue)
{
    Transmitter transmitter({{"discipline", "fifo"}, {"rate", 12e6}});
    for (const auto at : {5 * MS, 7 * MS, 8 * MS}) // a packet of 1500 bytes takes 1 ms at the rate
    {
        transmitter.SendUntil(at);
        transmitter.Put(1500, at);
        transmitter.SendUntil(at);
        EXPECT_EQ(transmitter.departures.back().time, at);
    }
}

TEST(Shaper, DoesNotCatchUpWhatTheTransmitterCouldNotSend)
{
    Transmitter transmitter({{"discipline", "fifo"}, {"rate", 12e6}});
    for (int packet = 0; packet < 5; ++packet)
    {
        transmitter.Put(1500, 0);
    }
    transmitter.SendUntil(0);
    transmitter.free = 10 * MS;
    transmitter.SendUntil(20 * MS);
    std::vector<std::int64_t> times;
    for (const auto& each : transmitter.departures)
    {
        times.push_back(each.time);
    }
    EXPECT_EQ(times, (std::vector<std::int64_t>{0, 10 * MS, 11 * MS, 12 * MS, 13 * MS}));
}

TEST(Shaper, ARateOfItsOwnIsTheOneThatDisciplinesAndRoomGoBy)
{
    std::vector<int> lost;
    Queue<int> queue({{"discipline", "fifo"}, {"buffer", 0.002}, {"rate", 12e6}},
                     [] { return 0.5; },
                     [&](int item, Loss) { lost.push_back(item); },
                     {},
                     MakerOf(),
                     Asks::WhenDue);
    for (int item = 0; item < 3; ++item)
    {
        queue.Enqueue(item, {1500, {}, {}}, 0, LINK);
    }
    EXPECT_EQ(lost, std::vector<int>{2});
}

TEST(Shaper, CanBeChangedAndTakenAwayWhileSomethingWaits)
{
    Transmitter transmitter({{"discipline", "fifo"}, {"rate", 12e6}});
    auto& queue = transmitter.queue;
    for (int packet = 0; packet < 4; ++packet)
    {
        transmitter.Put(1500, 0);
    }
    ASSERT_TRUE(queue.Dequeue(0));
    EXPECT_EQ(queue.Due(), MS);
    EXPECT_FALSE(queue.Dequeue(MS - 1));
    EXPECT_EQ(queue.Packets(), 3u);
    queue.Set({{"discipline", "fifo"}, {"rate", 6e6}}, MS / 2, LINK);
    EXPECT_EQ(queue.Due(), MS); // what went before keeps its time
    ASSERT_TRUE(queue.Dequeue(MS));
    EXPECT_EQ(queue.Due(), 3 * MS);
    queue.Set({{"discipline", "fifo"}}, MS, LINK);
    EXPECT_TRUE(queue.Dequeue(MS));
    EXPECT_TRUE(queue.Dequeue(MS));
}

TEST(Shaper, IsRefusedWhereTheTransmitterDoesNotWait)
{
    const Json shaped{{"discipline", "fifo"}, {"rate", 1e6}};
    EXPECT_THROW(CheckQueue(shaped), OutOfRange);
    Queue<int> queue({{"discipline", "fifo"}}, {}, [](int, Loss) {}, {});
    queue.Enqueue(1, {100, {}, {}}, 0, LINK);
    EXPECT_THROW(queue.Set({{"discipline", "fifo"}, {"rate", 1e6}, {"time", 0.0}}, 0, LINK), OutOfRange);
    EXPECT_EQ(queue.Dequeue(MS), 1); // nothing was changed
}
