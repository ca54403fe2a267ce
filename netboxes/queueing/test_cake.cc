// SPDX-License-Identifier: GPL-2.0-or-later
#include "cake.h"
#include "chance.h"
#include "make_discipline.h"
#include "queue.h"
#include "test_random.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

using namespace netboxit;
using namespace netboxit::queueing;

namespace
{

constexpr std::int64_t MS = 1'000'000;
constexpr double RATE = 12e6; // a packet of 1500 bytes takes 1 ms

Json Said(const std::string& isolation = "flows")
{
    return {{"discipline", "cake"},
            {"target", 0.005},
            {"interval", 0.1},
            {"flows", 1024},
            {"quantum", 1514},
            {"isolation", isolation},
            {"ecn", true}};
}

/// Its packets' flows, and between which hosts they are.
class CakeTest : public testing::Test
{
  protected:
    struct Flow
    {
        std::uint32_t hash;
        std::uint32_t source;
        std::uint32_t destination;
    };

    void Make(const Json& queue)
    {
        discipline = MakeDiscipline(
            queue,
            ChanceOf(1),
            [this](const Waiting& frame, Loss reason)
            {
                dropped.push_back(frame);
                ++reasons[reason];
            },
            [this](const Waiting&, Mark)
            {
                marks += isCapable ? 1 : 0;
                return isCapable;
            });
    }

    void Put(const Flow& flow, std::uint32_t bytes, std::int64_t now)
    {
        discipline->Enqueue({.item = number++,
                             .bytes = bytes,
                             .entered = now,
                             .flow = flow.hash,
                             .source = flow.source,
                             .destination = flow.destination},
                            now,
                            RATE);
    }

    /// Bytes that each flow gets of `seconds` in which all of them always have something to send, and packets of them all lengths.
    std::map<std::uint32_t, double> Shares(const std::vector<Flow>& flows, int packets)
    {
        Random random(3);
        std::map<std::uint32_t, double> sent;
        for (const auto& flow : flows)
        {
            for (int packet = 0; packet < 3; ++packet)
            {
                Put(flow, random.Length(), 0);
            }
        }
        double all = 0;
        for (int packet = 0; packet < packets; ++packet)
        {
            const auto frame = discipline->Dequeue(0); // nothing waits for too long
            sent[frame->flow] += frame->bytes;
            all += frame->bytes;
            Put(*std::ranges::find(flows, frame->flow, &Flow::hash), random.Length(), 0);
        }
        for (auto& [flow, bytes] : sent)
        {
            bytes /= all;
        }
        return sent;
    }

    std::unique_ptr<Discipline> discipline;
    std::uint32_t number{0};
    bool isCapable{false};
    int marks{0};
    std::vector<Waiting> dropped;
    std::map<Loss, int> reasons;
};

} // namespace

TEST_F(CakeTest, HostsOfOneAndOfTenFlowsHaveTheSame)
{
    // Flow 0 is of host 1, flows 1 to 10 of host 2.
    for (const std::string isolation : {"flows", "dual-srchost", "dual-dsthost", "triple-isolate"})
    {
        for (const bool bySource : {true, false})
        {
            std::vector<Flow> flows;
            for (std::uint32_t flow = 0; flow <= 10; ++flow)
            {
                const std::uint32_t own = flow == 0 ? 1 : 2;
                const std::uint32_t other = 100 + flow; // one for each flow
                flows.push_back({flow, bySource ? own : other, bySource ? other : own});
            }
            const bool isFair = isolation == "triple-isolate" || isolation == (bySource ? "dual-srchost" : "dual-dsthost");
            Make(Said(isolation));
            const auto shares = Shares(flows, 20'000);
            EXPECT_NEAR(shares.at(0), isFair ? 1.0 / 2 : 1.0 / 11, 0.005) << isolation << (bySource ? " by source" : " by destination");
            for (std::uint32_t flow = 1; flow <= 10; ++flow)
            {
                EXPECT_NEAR(shares.at(flow), isFair ? 1.0 / 20 : 1.0 / 11, 0.005) << isolation;
            }
        }
    }
}

TEST_F(CakeTest, TripleIsolationGoesByTheHostWithMoreFlows)
{
    // Source 1 sends a flow to 9, source 2 one to 9 and three to others: destination 9 has 2, source 2 has 4 flows.
    const std::vector<Flow> flows{{0, 1, 9}, {1, 2, 9}, {2, 2, 10}, {3, 2, 11}, {4, 2, 12}};
    Make(Said("triple-isolate"));
    const auto shares = Shares(flows, 20'000);
    // In each turn 1/2 of a quantum, and four times 1/4.
    EXPECT_NEAR(shares.at(0), 1.0 / 3, 0.005);
    for (std::uint32_t flow = 1; flow < 5; ++flow)
    {
        EXPECT_NEAR(shares.at(flow), 1.0 / 6, 0.005);
    }
}

TEST_F(CakeTest, AHostsShareReturnsWhenItsFlowsEnd)
{
    Make(Said("dual-srchost"));
    const std::vector<Flow> ending{{1, 2, 101}, {2, 2, 102}, {3, 2, 103}};
    for (const auto& flow : ending)
    {
        Put(flow, 1500, 0);
        Put(flow, 1500, 0);
    }
    while (discipline->Dequeue(0))
    {
    }
    const auto shares = Shares({{0, 1, 100}, {1, 2, 101}}, 5000);
    EXPECT_NEAR(shares.at(0), 0.5, 0.005);
}

TEST_F(CakeTest, ASparseFlowWaitsForAPacketOfEachOtherSparseFlowAtMost)
{
    Make(Said());
    Random random(4);
    constexpr std::uint32_t BULK = 20;
    constexpr std::uint32_t SPARSE = 10;
    for (std::uint32_t flow = 0; flow < BULK; ++flow)
    {
        Put({flow, 1, 1}, 1500, 0);
        Put({flow, 1, 1}, 1500, 0);
    }
    // Each sparse one has its next packet when all have had a turn twice, so it is never more than its share.
    const std::int64_t round = 2 * (BULK + SPARSE) * MS;
    std::map<std::uint32_t, std::int64_t> next;
    for (std::uint32_t flow = 100; flow < 100 + SPARSE; ++flow)
    {
        next[flow] = round + random.Below(static_cast<std::uint32_t>(round));
    }
    std::int64_t longest = 0;
    int sparse = 0;
    for (std::int64_t now = 0; now < 50 * round; now += MS)
    {
        for (auto& [flow, at] : next)
        {
            if (at <= now)
            {
                Put({flow, 1, 1}, 1500, at);
                at += round;
            }
        }
        const auto frame = discipline->Dequeue(now);
        ASSERT_TRUE(frame);
        if (frame->flow >= 100)
        {
            ++sparse;
            longest = std::max(longest, now - frame->entered);
        }
        else
        {
            Put({frame->flow, 1, 1}, 1500, now);
        }
    }
    EXPECT_GE(sparse, 450);
    // The rest of the packet that is being sent, and one of each other sparse flow.
    EXPECT_LE(longest, static_cast<std::int64_t>(SPARSE) * MS);
}

TEST_F(CakeTest, NobodyIsStarvedByWhoSendsSinglePackets)
{
    Make(Said());
    // A packet of half a quantum whenever its latest one has gone: what a flow sends that would be new again and again.
    std::map<std::uint32_t, int> sent;
    for (std::uint32_t flow = 0; flow < 4; ++flow)
    {
        Put({flow, 1, 1}, 700, 0);
        Put({flow, 1, 1}, 700, 0);
    }
    constexpr auto NEVER = std::numeric_limits<std::int64_t>::max();
    std::int64_t again{0};
    for (std::int64_t now = 0; now < 4000 * MS; now += MS)
    {
        if (again <= now)
        {
            Put({99, 1, 1}, 700, now);
            again = NEVER;
        }
        const auto frame = discipline->Dequeue(now);
        ++sent[frame->flow];
        if (frame->flow == 99)
        {
            again = now + 2 * MS;
        }
        else
        {
            Put({frame->flow, 1, 1}, 700, now);
        }
    }
    for (std::uint32_t flow = 0; flow < 4; ++flow)
    {
        EXPECT_GE(sent[flow], 700); // a fifth is 800
    }
    EXPECT_LE(sent[99], 1000);
}

TEST_F(CakeTest, LosesNothingThatItDoesNotTellAndNeverRestsWhileSomethingWaits)
{
    for (const std::string isolation : {"flows", "dual-srchost", "dual-dsthost", "triple-isolate"})
    {
        auto said = Said(isolation);
        said["packets"] = 50;
        said["flows"] = 64;
        said["quantum"] = 300;
        Make(said);
        dropped.clear();
        number = 0;
        Random random(5);
        std::set<std::uint32_t> gone;
        std::map<std::uint32_t, std::uint32_t> latest; // that went, of each flow
        std::int64_t now = 0;
        for (int step = 0; step < 50'000; ++step)
        {
            isCapable = random.Below(2) == 0;
            now += random.Below(4 * MS);
            for (auto burst = random.Below(8); burst > 0; --burst)
            {
                const auto flow = random.Below(40);
                Put({flow, flow % 5, flow % 3}, random.Length(), now);
                ASSERT_LE(discipline->Packets(), 50u);
            }
            for (auto free = random.Below(6); free > 0; --free)
            {
                const bool hadSome = discipline->Packets() > 0;
                EXPECT_EQ(discipline->FirstBytes() > 0, hadSome);
                const auto frame = discipline->Dequeue(now);
                ASSERT_EQ(frame.has_value(), hadSome); // the last one of a flow is not dropped, so one always goes
                if (frame)
                {
                    ASSERT_TRUE(gone.insert(frame->item).second);
                    ASSERT_GE(frame->item, latest[frame->flow]); // in order
                    latest[frame->flow] = frame->item;
                }
            }
            if (step % 1000 == 0)
            {
                while (const auto old = discipline->TakeOlder(now))
                {
                    ASSERT_TRUE(gone.insert(old->item).second);
                }
            }
        }
        while (const auto frame = discipline->Dequeue(now))
        {
            ASSERT_TRUE(gone.insert(frame->item).second);
        }
        for (const auto& each : dropped)
        {
            ASSERT_TRUE(gone.insert(each.item).second);
        }
        EXPECT_EQ(gone.size(), number);
        EXPECT_EQ(discipline->Packets(), 0u);
        EXPECT_EQ(discipline->Bytes(), 0u);
        EXPECT_GT(reasons[Loss::QueueEarly], 0);
        EXPECT_GT(reasons[Loss::QueueFull], 0);
    }
}

TEST_F(CakeTest, RoomIsTakenFromTheHeadOfTheLongestLine)
{
    auto said = Said();
    said["packets"] = 10;
    Make(said);
    for (int packet = 0; packet < 8; ++packet)
    {
        Put({1, 1, 1}, 1500, 0);
    }
    for (int packet = 0; packet < 4; ++packet)
    {
        Put({2, 1, 1}, 100, 0);
    }
    ASSERT_EQ(dropped.size(), 2u);
    EXPECT_EQ(dropped[0].item, 0u);
    EXPECT_EQ(dropped[1].item, 1u);
    EXPECT_EQ(reasons[Loss::QueueFull], 2);
}

TEST_F(CakeTest, TellsOfItsFlowsAndOfBlue)
{
    auto said = Said();
    said["packets"] = 10;
    Make(said);
    // 50 packets in a millisecond find room for ten, and one goes each millisecond: BLUE rises once in a target's time.
    for (std::int64_t now = 0; now < 1000 * MS; now += MS)
    {
        for (int packet = 0; packet < 50; ++packet)
        {
            Put({1, 1, 1}, 1500, now);
        }
        discipline->Dequeue(now);
    }
    const auto told = discipline->Read(1000 * MS);
    EXPECT_EQ(told.at("flows"), (Json{{"sparse", 0}, {"bulk", 1}, {"unresponsive", 1}}));
    EXPECT_GT(told.at("blue_dropped"), 0);
    EXPECT_EQ(told.at("collisions"), 0);
    discipline->ResetStatistics();
    EXPECT_EQ(discipline->Read(1000 * MS).at("blue_dropped"), 0);
}

TEST_F(CakeTest, KeepsFlowsAndHostsWhenItIsSetAnew)
{
    std::vector<std::uint8_t> frame(60, 0);
    Queue<int> queue(Said("dual-srchost"), ChanceOf(1), [](int, Loss) { FAIL(); }, [](int) { return false; });
    const auto put = [&](int item, std::uint8_t source, std::uint8_t destination)
    {
        frame[5] = destination; // no IP: hosts are told apart by MAC addresses
        frame[11] = source;
        queue.Enqueue(item, {1500, {}, frame}, 0, RATE);
    };
    for (int packet = 0; packet < 40; ++packet)
    {
        put(1, 1, 100);
        for (std::uint8_t flow = 0; flow < 4; ++flow)
        {
            put(2, 2, flow);
        }
    }
    auto anew = Said("dual-srchost");
    anew["interval"] = 0.2;
    queue.Set(anew, 0, RATE);
    int ofFirst = 0;
    for (int packet = 0; packet < 70; ++packet)
    {
        ofFirst += queue.Dequeue(0) == 1 ? 1 : 0;
    }
    EXPECT_NEAR(ofFirst, 35, 5);
}

TEST_F(CakeTest, AnUnknownIsolationIsRefused)
{
    try
    {
        Make(Said("by-colour"));
        FAIL();
    }
    catch (const OutOfRange& error)
    {
        EXPECT_EQ(std::string(error.what()),
                  "queue: isolation cannot be by-colour; it is flows, dual-srchost, dual-dsthost or triple-isolate");
    }
}

TEST_F(CakeTest, BlueHasAnUnresponsiveFlowDropItsOwnUntilItDoesNotFillTheQueue)
{
    // A flood of twice the rate beside a flow that sends a packet each 20 ms. CoDel's signals come too seldom. BLUE's probability rises
    // until it drops as much of the flood as is too much, and the queue is not full any more.
    auto said = Said();
    said["packets"] = 100;
    Make(said);
    const auto full = [this](std::int64_t from, std::int64_t to)
    {
        const auto before = reasons[Loss::QueueFull];
        for (auto now = from; now < to; now += MS)
        {
            Put({1, 1, 1}, 1500, now);
            Put({1, 1, 1}, 1500, now);
            if (now % (20 * MS) == 0)
            {
                Put({2, 2, 2}, 100, now);
            }
            discipline->Dequeue(now);
        }
        return reasons[Loss::QueueFull] - before;
    };
    EXPECT_GT(full(0, 1000 * MS), 300);
    full(1000 * MS, 9000 * MS);
    EXPECT_LT(full(9000 * MS, 10'000 * MS), 100);
    EXPECT_EQ(discipline->Read(10'000 * MS).at("flows").at("unresponsive"), 1);
    EXPECT_TRUE(std::ranges::all_of(dropped, [](const Waiting& frame) { return frame.flow == 1; }));
}
