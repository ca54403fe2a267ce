// SPDX-License-Identifier: GPL-2.0-or-later
#include "event_queue.h"

#include "ns3/simulator.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

using namespace netboxit;
using ns3::NanoSeconds;
using ns3::Simulator;

class EventQueueTest : public testing::Test
{
  protected:
    EventQueueTest()
    {
        Simulator::SetImplementation(queue);
    }

    ~EventQueueTest() override
    {
        Simulator::Destroy();
    }

    void RunAll()
    {
        while (queue->NextDue())
        {
            queue->RunNext();
        }
    }

    ns3::Ptr<EventQueue> queue = ns3::CreateObject<EventQueue>();
    std::vector<int> order;
};

TEST_F(EventQueueTest, EventsRunInOrderOfTimeThenOfScheduling)
{
    Simulator::Schedule(NanoSeconds(20), [this] { order.push_back(3); });
    Simulator::Schedule(NanoSeconds(10),
                        [this]
                        {
                            order.push_back(1);
                            Simulator::ScheduleNow([this] { order.push_back(2); });
                        });
    Simulator::Schedule(NanoSeconds(20), [this] { order.push_back(4); });
    EXPECT_EQ(queue->NextDue(), 10);
    RunAll();
    EXPECT_EQ(order, (std::vector{1, 2, 3, 4}));
    EXPECT_EQ(Simulator::Now(), NanoSeconds(20));
}

TEST_F(EventQueueTest, RemovedAndCancelledEventsDoNotRun)
{
    auto removed = Simulator::Schedule(NanoSeconds(1), [this] { order.push_back(1); });
    auto cancelled = Simulator::Schedule(NanoSeconds(2), [this] { order.push_back(2); });
    EXPECT_EQ(Simulator::GetDelayLeft(cancelled), NanoSeconds(2));
    Simulator::Remove(removed);
    Simulator::Cancel(cancelled);
    EXPECT_TRUE(removed.IsExpired());
    EXPECT_TRUE(cancelled.IsExpired());
    RunAll();
    EXPECT_TRUE(order.empty());
}

TEST_F(EventQueueTest, ManyEventsStayInOrderWhileOthersAreRemovedAndAdded)
{
    std::mt19937 random(3);
    using Key = std::pair<std::int64_t, int>;
    std::map<Key, ns3::EventId> expected;
    std::vector<Key> ran;
    int number = 0;
    const auto add = [&]
    {
        const Key key{queue->NowNs() + std::uniform_int_distribution<std::int64_t>(0, 50)(random), number++};
        expected[key] = Simulator::Schedule(NanoSeconds(key.first - queue->NowNs()), [&ran, key] { ran.push_back(key); });
    };
    for (int step = 0; step < 20'000; ++step)
    {
        add();
        if (step % 3 == 0)
        {
            const auto removed = std::next(
                expected.begin(), std::uniform_int_distribution<std::ptrdiff_t>(0, std::ssize(expected) - 1)(random));
            Simulator::Remove(removed->second);
            expected.erase(removed);
        }
        if (step % 2 == 0 && !expected.empty())
        {
            EXPECT_EQ(queue->NextDue(), expected.begin()->first.first);
            queue->RunNext();
            ASSERT_EQ(ran.back(), expected.begin()->first);
            expected.erase(expected.begin());
        }
    }
}

TEST_F(EventQueueTest, AnEventDueAtTheTimeTheClockWasMovedToIsStillPending)
{
    const auto later = Simulator::Schedule(NanoSeconds(50), [this] { order.push_back(1); });
    Simulator::Schedule(NanoSeconds(10), [] {});
    queue->RunNext();
    queue->AdvanceTo(50);
    EXPECT_EQ(Simulator::Now(), NanoSeconds(50));
    EXPECT_TRUE(later.IsPending());
    queue->AdvanceTo(40);
    EXPECT_EQ(Simulator::Now(), NanoSeconds(50)) << "time does not go back";
    RunAll();
    EXPECT_EQ(order.size(), 1u);
}

TEST_F(EventQueueTest, EventsKeepTheContextTheyWereScheduledWith)
{
    std::vector<std::uint32_t> contexts;
    Simulator::ScheduleWithContext(
        7,
        NanoSeconds(1),
        [&]
        {
            contexts.push_back(Simulator::GetContext());
            Simulator::Schedule(NanoSeconds(1), [&] { contexts.push_back(Simulator::GetContext()); });
        });
    RunAll();
    EXPECT_EQ(contexts, (std::vector<std::uint32_t>{7, 7}));
    EXPECT_EQ(Simulator::GetContext(), static_cast<std::uint32_t>(Simulator::NO_CONTEXT));
}

TEST_F(EventQueueTest, StopIsForWhoeverRunsTheLoop)
{
    Simulator::Stop(NanoSeconds(5));
    EXPECT_FALSE(queue->IsStopped());
    RunAll();
    EXPECT_TRUE(queue->IsStopped());
}

TEST_F(EventQueueTest, DestroyEventsRunAtTheEnd)
{
    Simulator::ScheduleDestroy([this] { order.push_back(1); });
    auto cancelled = Simulator::ScheduleDestroy([this] { order.push_back(2); });
    Simulator::Cancel(cancelled);
    Simulator::Destroy();
    EXPECT_EQ(order, std::vector{1});
}
