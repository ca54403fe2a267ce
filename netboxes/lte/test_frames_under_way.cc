// SPDX-License-Identifier: GPL-2.0-or-later
#include "frames_under_way.h"

#include <gtest/gtest.h>

using netboxit::FramesUnderWay;
using netboxit::QueueNumber;
using netboxit::SlotId;

namespace
{

using Numbers = std::vector<std::uint32_t>;

constexpr QueueNumber FIRST = 1;
constexpr QueueNumber SECOND = 2;

class FramesOfABearer : public testing::Test
{
  protected:
    static SlotId Slot(std::uint32_t number)
    {
        return {.index = number};
    }

    /// At its own number, ns.
    void Send(std::uint32_t number)
    {
        frames.Sent({.slot = Slot(number), .to = {}, .sent = number, .queue = 0});
    }

    void Queue(std::uint32_t number, QueueNumber queue)
    {
        Send(number);
        frames.Queued(Slot(number), queue);
    }

    void Pass(std::uint32_t number)
    {
        frames.Passed(Slot(number));
    }

    /// Those that are lost when this one arrives.
    Numbers Arrive(std::uint32_t number)
    {
        Numbers lost;
        EXPECT_TRUE(frames.Arrived(Slot(number), [&lost](const auto& entry) { lost.push_back(entry.slot.index); }));
        return lost;
    }

    FramesUnderWay frames;
};

} // namespace

TEST_F(FramesOfABearer, WhatRlcGotBeforeOneThatArrivesIsLost)
{
    for (const auto number : {1, 2, 3})
    {
        Queue(number, FIRST);
        Pass(number);
    }
    EXPECT_EQ(Arrive(2), Numbers{1});
    EXPECT_EQ(Arrive(3), Numbers{});
    EXPECT_EQ(frames.Count(), 0U);
}

TEST_F(FramesOfABearer, WhatIsOvertakenInItsQueueIsNotLost)
{
    for (const auto number : {1, 2, 3})
    {
        Queue(number, FIRST);
    }
    Pass(3);
    EXPECT_EQ(Arrive(3), Numbers{});
    Pass(2);
    Pass(1);
    EXPECT_EQ(Arrive(2), Numbers{});
    EXPECT_EQ(Arrive(1), Numbers{});
}

TEST_F(FramesOfABearer, WhatWaitedInAnEarlierQueueOrNeverCameToOneIsLost)
{
    Queue(1, FIRST);
    Send(2);
    Queue(3, SECOND);
    Send(4);
    Pass(3);
    EXPECT_EQ(Arrive(3), (Numbers{1, 2}));
    EXPECT_EQ(frames.Count(), 1U);
}

TEST_F(FramesOfABearer, WhatIsDroppedInTheMidstIsWaitedForNoMore)
{
    for (const auto number : {1, 2, 3})
    {
        Queue(number, FIRST);
    }
    EXPECT_EQ(frames.Dropped(Slot(2))->slot, Slot(2));
    EXPECT_FALSE(frames.Dropped(Slot(2)));
    Pass(2);
    EXPECT_FALSE(frames.Arrived(Slot(2), [](const auto&) {}));
    EXPECT_EQ(frames.Count(), 2U);
}
