// SPDX-License-Identifier: GPL-2.0-or-later
#include "queue.h"

#include <gtest/gtest.h>

#include <map>

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
                [this](const std::string& item, Loss reason) { lost[reason].push_back(item); })
    {
    }

    void Put(const std::string& item, std::int64_t now)
    {
        queue.Enqueue(item, {1500, {}, {}}, now, RATE);
    }

    std::map<Loss, std::vector<std::string>> lost;
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
                    {"length_s", {1.0, 5.0, 3.0}}}));
    queue.ResetStatistics(9000 * MS);
    EXPECT_EQ(queue.Read(10000 * MS).at("length_s"), (Json{0.0, 1.0}));
}
