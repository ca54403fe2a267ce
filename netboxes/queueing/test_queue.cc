// SPDX-License-Identifier: GPL-2.0-or-later
#include "queue.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

using namespace netboxit;
using namespace netboxit::queueing;

namespace
{

constexpr std::int64_t MS = 1'000'000;
constexpr double RATE = 12e6; // a packet of 1500 bytes takes 1 ms

class QueueTest : public testing::Test
{
  protected:
    QueueTest()
        : queue({{"discipline", "fifo"}},
                [] { return 0.5; },
                [this](const std::string& item, Loss reason) { lost[reason].push_back(item); },
                [this](const std::string& item)
                {
                    marked.push_back(item);
                    return true;
                })
    {
    }

    void Put(const std::string& item, std::int64_t now)
    {
        queue.Enqueue(item, {1500, {}, {}}, now, RATE);
    }

    std::map<Loss, std::vector<std::string>> lost;
    std::vector<std::string> marked;
    Queue<std::string> queue;
};

using Items = std::vector<std::string>;

} // namespace

TEST_F(QueueTest, GivesBackWhatWasPutIn)
{
    Put("a", 0);
    Put("b", 0);
    EXPECT_EQ(queue.Dequeue(0), "a");
    Put("c", 0);
    EXPECT_EQ(queue.Dequeue(0), "b");
    EXPECT_EQ(queue.Dequeue(0), "c");
    EXPECT_EQ(queue.Dequeue(0), std::nullopt);
}

TEST_F(QueueTest, LosesWhatWaitedForLongerThanItsTime)
{
    queue.Set({{"discipline", "fifo"}, {"time", 0.1}}, 0, RATE);
    Put("old", 0);
    Put("just", 10 * MS);
    Put("new", 20 * MS);
    EXPECT_EQ(queue.Dequeue(110 * MS), "just");
    queue.Expire(121 * MS);
    EXPECT_EQ(lost[Loss::QueueExpired], (Items{"old", "new"}));
    EXPECT_TRUE(queue.IsEmpty());
}

TEST_F(QueueTest, ABufferIsWhatTheRateSendsInItsTime)
{
    queue.Set({{"discipline", "fifo"}, {"buffer", 0.002}}, 0, RATE);
    for (const auto* item : {"a", "b", "c"})
    {
        Put(item, 0);
    }
    EXPECT_EQ(lost[Loss::QueueFull], Items{"c"});
    queue.Clear(Loss::Outage, 0);
    // Less than a packet: an empty queue takes one nevertheless.
    queue.Set({{"discipline", "fifo"}, {"buffer", 0.001}}, 0, RATE / 2);
    queue.Enqueue("d", {1500, {}, {}}, 0, RATE / 2);
    EXPECT_EQ(queue.Packets(), 1u);
}

TEST_F(QueueTest, TakesOnePacketThatIsLongerThanItsRoom)
{
    queue.Set({{"discipline", "fifo"}, {"bytes", 1514}}, 0, RATE);
    queue.Enqueue("long", {9014, {}, {}}, 0, RATE);
    Put("next", 0);
    EXPECT_EQ(queue.Dequeue(0), "long");
    EXPECT_EQ(lost[Loss::QueueFull], Items{"next"});
}

TEST_F(QueueTest, AnotherDisciplineKeepsOrderAndAge)
{
    const Json fair{{"discipline", "fq-codel"}, {"target", 0.005}, {"interval", 0.1}, {"flows", 16}, {"quantum", 1514}};
    queue.Set(fair, 0, RATE);
    for (const auto* item : {"a", "b", "c"})
    {
        Put(item, 0);
    }
    queue.Set({{"discipline", "fifo"}, {"packets", 2}, {"time", 0.05}}, 40 * MS, RATE);
    EXPECT_EQ(lost[Loss::QueueFull], Items{"c"});
    EXPECT_EQ(queue.Dequeue(49 * MS), "a");
    EXPECT_EQ(queue.Dequeue(51 * MS), std::nullopt);
    EXPECT_EQ(lost[Loss::QueueExpired], Items{"b"});
}

TEST_F(QueueTest, SettingsThatDoNotFitEachOtherChangeNothing)
{
    Put("a", 0);
    const Json reversed{{"discipline", "red"}, {"minimum", 5}, {"maximum", 1}, {"probability", 0.1}, {"weight", 0.1}};
    EXPECT_THROW(queue.Set(reversed, 0, RATE), OutOfRange);
    EXPECT_EQ(queue.Dequeue(0), "a");
}

TEST_F(QueueTest, TellsItsLengthOverTime)
{
    queue.Set({{"discipline", "fifo"}, {"packets", 2}}, 0, RATE);
    Put("a", 1000 * MS);
    Put("b", 2000 * MS);
    Put("c", 2000 * MS);
    queue.Dequeue(5000 * MS);
    const auto told = queue.Read(9000 * MS);
    EXPECT_EQ(told,
              (Json{{"packets", 1},
                    {"bytes", 1500},
                    {"delay_s", 4.0},
                    {"dropped", {{"full", 1}, {"early", 0}, {"expired", 0}}},
                    {"marked", {{"early", 0}, {"coupled", 0}, {"step", 0}}},
                    {"length",
                     {{"mean", 11.0 / 9}, {"p50", 1}, {"p90", 2}, {"p99", 2}, {"max", 2}, {"empty", 1.0 / 9}}},
                    {"length_s", {1.0, 5.0, 3.0}}}));
    queue.ResetStatistics(9000 * MS);
    EXPECT_EQ(queue.Read(9000 * MS).at("length"), Json(nullptr));
    EXPECT_EQ(queue.Read(10000 * MS).at("length"),
              (Json{{"mean", 1.0}, {"p50", 1}, {"p90", 1}, {"p99", 1}, {"max", 1}, {"empty", 0.0}}));
    EXPECT_EQ(queue.Read(10000 * MS).at("length_s"), (Json{0.0, 1.0}));
}

/// Poisson arrivals at a transmitter that is busy for four fifths of the time and takes 1 ms for each packet: M/D/1. Pollaczek and
/// Khinchine: rho^2 / (2 (1 - rho)) = 1.6 packets wait. The distribution is Crommelin's (1932): none wait in 44.51 % of the time; 4
/// are not exceeded in 89.95 %, 5 in 93.47 %, 9 in 98.83 %, 10 in 99.24 %.
TEST_F(QueueTest, TellsTheLengthThatQueueingTheoryExpects)
{
    std::mt19937_64 random(7);
    std::exponential_distribution<double> gap(0.8);
    std::int64_t free = 0;
    std::int64_t arrival = 0;
    const auto sendUntil = [&](std::int64_t now)
    {
        for (; !queue.IsEmpty() && free <= now; free += MS)
        {
            queue.Dequeue(free);
        }
    };
    queue.Set({{"discipline", "fifo"}}, 0, RATE);
    for (int packet = 0; packet < 1'000'000; ++packet)
    {
        arrival += std::llround(gap(random) * MS);
        sendUntil(arrival);
        Put("", arrival);
        free = std::max(free, arrival);
        sendUntil(arrival);
    }
    const auto length = queue.Read(arrival).at("length");
    EXPECT_NEAR(length.at("mean").get<double>(), 1.6, 0.05);
    EXPECT_NEAR(length.at("empty").get<double>(), 0.4451, 0.005);
    EXPECT_EQ(length.at("p50"), 1);
    EXPECT_NEAR(length.at("p90").get<double>(), 4.5, 0.5);
    EXPECT_EQ(length.at("p99"), 10);
}

TEST_F(QueueTest, TellsLongLengthsWithinASixtyFourth)
{
    LengthOverTime lengths;
    lengths.Add(127, MS);
    EXPECT_EQ(lengths.Distribution().at("p50"), 127);
    for (const std::size_t packets : {128, 1000, 65'537, 1'048'575, 5'000'000})
    {
        lengths.Reset();
        lengths.Add(packets, 98 * MS);
        lengths.Add(2 * packets, 2 * MS);
        const auto told = lengths.Distribution();
        const auto wanted = static_cast<double>(packets);
        EXPECT_GE(told.at("p50").get<double>(), wanted);
        EXPECT_LE(told.at("p50").get<double>(), wanted * (1 + 1.0 / 64));
        EXPECT_EQ(told.at("max"), 2 * packets);
        EXPECT_DOUBLE_EQ(told.at("mean").get<double>(), 1.02 * wanted);
        EXPECT_DOUBLE_EQ(told.at("empty").get<double>(), 0);
    }
}

TEST_F(QueueTest, TellsMarksByTheirCauseBesideDrops)
{
    // Beyond twice its maximum RED drops all; between its minimum and that it marks. A mean that is the length.
    const Json red{{"discipline", "red"}, {"minimum", 1}, {"maximum", 3}, {"probability", 1}, {"weight", 1}, {"ecn", true}};
    queue.Set(red, 0, RATE);
    for (const auto* item : {"a", "b", "c", "d", "e", "f", "g", "h"})
    {
        Put(item, 0);
    }
    const auto read = queue.Read(MS);
    EXPECT_EQ(read["marked"], Json({{"early", marked.size()}, {"coupled", 0}, {"step", 0}}));
    EXPECT_EQ(read["dropped"]["early"], lost[Loss::QueueEarly].size());
    EXPECT_FALSE(marked.empty());
    EXPECT_FALSE(lost[Loss::QueueEarly].empty());
    queue.ResetStatistics(MS);
    EXPECT_EQ(queue.Read(MS)["marked"]["early"], 0);
}
