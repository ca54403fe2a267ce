// SPDX-License-Identifier: GPL-2.0-or-later
#include "chance.h"
#include "make_discipline.h"

#include <gtest/gtest.h>

#include <map>

using namespace netboxit;
using namespace netboxit::queueing;

namespace
{

constexpr std::int64_t MS = 1'000'000;
constexpr double RATE = 12e6; // a frame of 1500 bytes takes 1 ms

class DisciplineTest : public testing::Test
{
  protected:
    void Make(const Json& queue)
    {
        discipline = MakeDiscipline(queue,
                                    ChanceOf(1),
                                    [this](const Waiting& frame, Loss reason)
                                    {
                                        dropped.push_back(frame.item);
                                        ++reasons[reason];
                                    },
                                    [this](const Waiting& frame, Mark)
                                    {
                                        if (isCapable)
                                        {
                                            marked.push_back(frame.item);
                                        }
                                        return isCapable;
                                    });
    }

    void Put(std::uint32_t number, std::int64_t now, std::uint32_t flow = 0)
    {
        discipline->Enqueue({number, 1500, now, flow}, now, RATE);
    }

    std::unique_ptr<Discipline> discipline;
    bool isCapable{true}; ///< its packets, of ECN
    std::vector<std::uint32_t> dropped;
    std::vector<std::uint32_t> marked;
    std::map<Loss, int> reasons;
};

} // namespace

TEST_F(DisciplineTest, FifoDropsWhatFindsItFull)
{
    Make({{"discipline", "fifo"}, {"packets", 3}});
    for (std::uint32_t number = 0; number < 5; ++number)
    {
        Put(number, 0);
    }
    EXPECT_EQ(dropped, (std::vector<std::uint32_t>{3, 4}));
    EXPECT_EQ(discipline->Bytes(), 4500u);
    Make({{"discipline", "fifo"}, {"bytes", 3000}});
    Put(7, 0);
    Put(8, 0);
    Put(9, 0);
    EXPECT_EQ(dropped.back(), 9u);
}

TEST_F(DisciplineTest, PrioritySendsTheFirstClassFirst)
{
    const Json line{{"weight", 1}, {"queue", {{"discipline", "fifo"}, {"packets", 2}}}};
    Make({{"discipline", "priority"}, {"lines", {line, line, line}}});
    const auto put = [this](std::uint32_t number, std::int64_t now, ClassId trafficClass)
    { discipline->Enqueue({number, 1500, now, 0, trafficClass}, now, RATE); };
    put(0, 0, 2);
    put(1, MS, 2);
    put(2, 2 * MS, 2); // finds its class full
    put(3, 3 * MS, 0);
    put(4, 4 * MS, 1);
    EXPECT_EQ(dropped, std::vector<std::uint32_t>{2});
    EXPECT_EQ(discipline->Packets(), 4u);
    EXPECT_EQ(discipline->TakeOlder(MS)->item, 0u);
    EXPECT_FALSE(discipline->TakeOlder(MS));
    std::vector<std::uint32_t> order;
    while (const auto frame = discipline->Dequeue(5 * MS))
    {
        order.push_back(frame->item);
    }
    EXPECT_EQ(order, (std::vector<std::uint32_t>{3, 4, 1}));
    EXPECT_EQ(discipline->Bytes(), 0u);
}

TEST_F(DisciplineTest, CodelFollowsItsControlLaw)
{
    Make({{"discipline", "codel"}, {"target", 0.005}, {"interval", 0.1}, {"quantum", 1514}});
    // Overload by a half: a frame comes each 2/3 ms, one goes each ms, so waiting times rise until drops outweigh it.
    std::vector<std::int64_t> drops;
    std::int64_t next = 0;
    std::uint32_t number = 0;
    for (std::int64_t now = 0; now < 500 * MS; now += MS)
    {
        for (; next <= now; next += 2 * MS / 3)
        {
            Put(number++, next);
        }
        const auto before = dropped.size();
        EXPECT_TRUE(discipline->Dequeue(now));
        drops.insert(drops.end(), dropped.size() - before, now);
    }
    ASSERT_GT(drops.size(), 5u);
    // 5 ms of waiting are reached after some 15 ms, the first drop comes an interval later, and then at distances interval/sqrt(n).
    EXPECT_NEAR(static_cast<double>(drops[0]) / MS, 115, 3);
    EXPECT_NEAR(static_cast<double>(drops[1] - drops[0]) / MS, 100, 1);
    EXPECT_NEAR(static_cast<double>(drops[2] - drops[1]) / MS, 100 / std::sqrt(2), 1);
    EXPECT_NEAR(static_cast<double>(drops[3] - drops[2]) / MS, 100 / std::sqrt(3), 1);
    EXPECT_EQ(reasons[Loss::QueueFull], 0);
}

TEST_F(DisciplineTest, FqCodelGivesFlowsTheirTurns)
{
    Make({{"discipline", "fq-codel"}, {"target", 0.005}, {"interval", 0.1}, {"flows", 16}, {"quantum", 1514}});
    for (std::uint32_t number = 0; number < 6; ++number)
    {
        Put(number, 0, 1);
    }
    Put(10, 0, 2); // has just begun, and waits for one frame only
    std::vector<std::uint32_t> order;
    while (const auto frame = discipline->Dequeue(MS))
    {
        order.push_back(frame->item);
    }
    EXPECT_EQ(order, (std::vector<std::uint32_t>{0, 1, 10, 2, 3, 4, 5}));
    EXPECT_EQ(discipline->Packets(), 0u);
    EXPECT_EQ(discipline->Bytes(), 0u);
}

TEST_F(DisciplineTest, FqCodelTakesRoomFromTheLongest)
{
    Make({{"discipline", "fq-codel"}, {"target", 0.005}, {"interval", 0.1}, {"flows", 16}, {"quantum", 1514}, {"packets", 10}});
    for (std::uint32_t number = 0; number < 10; ++number)
    {
        Put(number, 0, 1);
    }
    Put(20, 0, 2);
    EXPECT_EQ(dropped, (std::vector<std::uint32_t>{0, 1, 2, 3, 4}));
    EXPECT_EQ(discipline->Packets(), 6u);
}

TEST_F(DisciplineTest, PieHoldsItsTarget)
{
    Make({{"discipline", "pie"}, {"target", 0.015}, {"interval", 0.015}, {"burst", 0.15}});
    std::int64_t next = 0;
    std::uint32_t number = 0;
    double waited = 0;
    int sent = 0;
    for (std::int64_t now = 0; now < 60'000 * MS; now += MS)
    {
        for (; next <= now; next += 4 * MS / 5) // a quarter more than can go
        {
            Put(number++, next);
        }
        const auto frame = discipline->Dequeue(now);
        if (frame && now > 20'000 * MS)
        {
            waited += static_cast<double>(now - frame->entered) / 1e9;
            ++sent;
        }
    }
    EXPECT_NEAR(waited / sent, 0.015, 0.003);
    EXPECT_NEAR(static_cast<double>(dropped.size()) / number, 0.2, 0.02);
}

TEST_F(DisciplineTest, RedDropsByItsMeanLength)
{
    Make({{"discipline", "red"}, {"minimum", 5}, {"maximum", 15}, {"probability", 0.1}, {"weight", 1}});
    for (std::uint32_t number = 0; number < 5; ++number)
    {
        Put(number, 0);
    }
    EXPECT_TRUE(dropped.empty());
    // At a mean length of 10 half of `probability`, its distances uniform: a drop in ten frames on the mean, their distances uniform on 1 … 19 (Floyd and Jacobson, section 8).
    std::uint32_t number = 5;
    while (discipline->Packets() < 10)
    {
        Put(number++, 0);
    }
    dropped.clear();
    std::vector<std::uint32_t> at;
    for (unsigned turn = 0; turn < 20'000; ++turn)
    {
        const auto before = dropped.size();
        Put(number++, 0);
        if (dropped.size() > before)
        {
            at.push_back(turn);
        }
        else
        {
            discipline->Dequeue(0);
        }
    }
    EXPECT_NEAR(20'000.0 / static_cast<double>(at.size()), 10.0, 0.5);
    for (std::size_t drop = 1; drop < at.size(); ++drop)
    {
        EXPECT_LE(at[drop] - at[drop - 1], 19u);
    }
}

TEST_F(DisciplineTest, ScheduledLinesTakeRoomFromTheLongestsNewest)
{
    for (const char* name : {"drr", "scfq", "wf2q+", "qfq", "qfq+"})
    {
        dropped.clear();
        Make({{"discipline", name}, {"flows", 16}, {"quantum", 1514}, {"packets", 10}});
        for (std::uint32_t number = 0; number < 8; ++number)
        {
            Put(number, 0, 1);
        }
        for (std::uint32_t number = 20; number < 24; ++number)
        {
            Put(number, MS, 2);
        }
        EXPECT_EQ(dropped, (std::vector<std::uint32_t>{7, 6})) << name;
        // A flow that waits for less than the other has its turns until it has sent all.
        std::vector<std::uint32_t> second;
        for (int turn = 0; turn < 8; ++turn)
        {
            const auto frame = discipline->Dequeue(MS);
            if (frame->item >= 20)
            {
                second.push_back(frame->item);
            }
        }
        EXPECT_EQ(second, (std::vector<std::uint32_t>{20, 21, 22, 23})) << name;
        EXPECT_EQ(discipline->TakeOlder(MS)->item, 4u) << name;
        EXPECT_FALSE(discipline->TakeOlder(0)) << name;
        EXPECT_EQ(discipline->Dequeue(MS)->item, 5u) << name;
        EXPECT_FALSE(discipline->Dequeue(MS)) << name;
        EXPECT_EQ(discipline->Bytes(), 0u) << name;
    }
}

TEST_F(DisciplineTest, AdaptiveRedHoldsItsTarget)
{
    // At 12 Mbit/s, 3000 typical packets a second, a target of 20 ms is between 30 and 90 packets, and so 54 to 66 of them.
    Make({{"discipline", "ared"}, {"target", 0.02}, {"interval", 0.5}});
    std::int64_t next = 0;
    std::uint32_t number = 0;
    double waiting = 0;
    int turns = 0;
    for (std::int64_t now = 0; now < 120'000 * MS; now += MS)
    {
        for (; next <= now; next += 19 * MS / 20) // a twentieth more than can go
        {
            Put(number++, next);
        }
        discipline->Dequeue(now);
        if (now > 60'000 * MS)
        {
            waiting += static_cast<double>(discipline->Packets());
            ++turns;
        }
    }
    EXPECT_GT(waiting / turns, 54);
    EXPECT_LT(waiting / turns, 66);
    EXPECT_NEAR(static_cast<double>(dropped.size()) / number, 0.05, 0.01);
    EXPECT_EQ(reasons[Loss::QueueFull], 0);
}

// A packet that is marked goes; otherwise the control law is the same: RFC 8289 (5.5) drops at the same distances.
TEST_F(DisciplineTest, CodelMarksAtTheTimesOfItsControlLaw)
{
    Make({{"discipline", "codel"}, {"target", 0.005}, {"interval", 0.1}, {"ecn", true}});
    for (std::uint32_t number = 0; number < 1000; ++number)
    {
        Put(number, 0);
    }
    std::vector<std::int64_t> marks;
    for (std::int64_t now = 10 * MS; now < 500 * MS; now += MS)
    {
        const auto before = marked.size();
        const auto sent = discipline->Dequeue(now);
        if (marked.size() > before)
        {
            EXPECT_EQ(marked.size(), before + 1);
            EXPECT_EQ(sent->item, marked.back());
            marks.push_back(now / MS);
        }
    }
    // The first an interval after the target was exceeded, the next ones 100 / sqrt(n) ms later.
    EXPECT_EQ(marks, (std::vector<std::int64_t>{110, 210, 281, 339, 389, 434, 474}));
    EXPECT_TRUE(dropped.empty());
}

TEST_F(DisciplineTest, FqCodelMarksWhatIsCapableAndDropsTheRest)
{
    const Json said{{"discipline", "fq-codel"}, {"target", 0.005}, {"interval", 0.1}, {"flows", 16}, {"quantum", 1514}, {"ecn", true}};
    std::array<std::size_t, 2> signals{};
    for (const bool capable : {true, false})
    {
        Make(said);
        isCapable = capable;
        for (std::uint32_t number = 0; number < 1000; ++number)
        {
            Put(number, 0, 1);
        }
        for (std::int64_t now = 10 * MS; now < 500 * MS; now += MS)
        {
            discipline->Dequeue(now);
        }
        signals[capable] = capable ? marked.size() : dropped.size();
    }
    EXPECT_EQ(signals[0], signals[1]);
    EXPECT_EQ(marked.size(), signals[1]);
    EXPECT_EQ(dropped.size(), signals[0]);
}

TEST_F(DisciplineTest, PieMarksUpToATenthAndDropsAbove)
{
    const Json said{{"discipline", "pie"}, {"target", 0.015}, {"interval", 0.015}, {"burst", 0.0}, {"ecn", true}};
    Make(said);
    // An overload by a fifth, of which no mark relieves it: its probability rises past a tenth, and then it drops (RFC 8033, 5.1).
    std::int64_t next = 0;
    std::uint32_t number = 0;
    std::size_t marksBeforeADrop = 0;
    for (std::int64_t now = 0; now < 60'000 * MS; now += MS)
    {
        for (; next <= now; next += MS * 5 / 6)
        {
            Put(number++, next);
            marksBeforeADrop = dropped.empty() ? marked.size() : marksBeforeADrop;
        }
        discipline->Dequeue(now);
    }
    EXPECT_GT(marksBeforeADrop, 0u);
    ASSERT_FALSE(dropped.empty());
    // As many as must go: a sixth of what comes.
    EXPECT_NEAR(static_cast<double>(dropped.size()) / number, 1.0 / 6, 0.02);
    EXPECT_EQ(reasons[Loss::QueueFull], 0);
}

TEST_F(DisciplineTest, RedDropsAllBeyondTwiceItsMaximum)
{
    Make({{"discipline", "red"}, {"minimum", 5}, {"maximum", 15}, {"probability", 0.1}, {"weight", 1}, {"ecn", true}});
    for (std::uint32_t number = 0; number < 100; ++number)
    {
        Put(number, 0);
    }
    // RFC 3168, section 7, and ns-3's UseHardDrop.
    EXPECT_EQ(discipline->Packets(), 30u);
    EXPECT_EQ(dropped.size(), 70u);
    EXPECT_FALSE(marked.empty());
}

TEST_F(DisciplineTest, NothingIsMarkedThatFindsTheQueueFull)
{
    Make({{"discipline", "red"}, {"minimum", 1}, {"maximum", 3}, {"probability", 1}, {"weight", 1}, {"packets", 3}, {"ecn", true}});
    for (std::uint32_t number = 0; number < 20; ++number)
    {
        Put(number, 0);
    }
    EXPECT_EQ(discipline->Packets(), 3u);
    for (const auto number : marked)
    {
        EXPECT_LT(number, 3u);
    }
}

TEST_F(DisciplineTest, WithoutEcnNothingIsMarked)
{
    for (const auto* name : {"red", "pie", "codel"})
    {
        Make({{"discipline", name}, {"minimum", 1}, {"maximum", 2}, {"probability", 1}, {"weight", 1}, {"target", 0.001},
              {"interval", 0.01}, {"burst", 0}});
        for (std::int64_t now = 0; now < 1000 * MS; now += MS)
        {
            Put(1, now);
            Put(2, now);
            discipline->Dequeue(now);
        }
        EXPECT_TRUE(marked.empty()) << name;
        EXPECT_GT(reasons[Loss::QueueEarly], 0) << name;
        reasons.clear();
    }
}
