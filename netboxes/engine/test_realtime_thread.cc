// SPDX-License-Identifier: GPL-2.0-or-later
#include "realtime_thread.h"

#include <gtest/gtest.h>

#include <random>

using netboxit::Budget;
using netboxit::Oversleep;

TEST(Budget, StaysBelowItsShareAndBurstInAnyStretchOfTime)
{
    Budget budget(0.2, 10'000);
    std::int64_t spent = 0;
    for (std::int64_t now = 0; now < 1'000'000; now += 100)
    {
        budget.Flow(100);
        if (!budget.IsEmpty())
        {
            budget.Spend(100);
            spent += 100;
        }
    }
    EXPECT_NEAR(static_cast<double>(spent), 0.2 * 1'000'000 + 10'000, 200);
}

TEST(Budget, SavesNoMoreThanItsBurst)
{
    Budget budget(0.5, 1000);
    budget.Flow(1'000'000'000);
    budget.Spend(999);
    EXPECT_FALSE(budget.IsEmpty());
    EXPECT_FALSE(budget.IsHalfFull());
    budget.Spend(1);
    EXPECT_TRUE(budget.IsEmpty());
}

TEST(Budget, OfNothingAllowsNothing)
{
    Budget budget(0, 0);
    budget.Flow(1'000'000'000);
    EXPECT_TRUE(budget.IsEmpty());
    EXPECT_FALSE(budget.IsHalfFull());
}

TEST(Oversleep, LearnsWhatNineCasesOfTenStayBelow)
{
    std::mt19937 random(7);
    std::uniform_int_distribution<std::int64_t> late(0, 100'000);
    Oversleep oversleep;
    double sum = 0;
    for (int i = 0; i < 20'000; ++i)
    {
        oversleep.Observe(late(random));
        sum += i < 10'000 ? 0 : static_cast<double>(oversleep.Expected());
    }
    EXPECT_NEAR(sum / 10'000, 90'000, 3'000);
}

TEST(Oversleep, IsNotMisledByFreezesAndForgetsThem)
{
    Oversleep oversleep;
    for (int i = 0; i < 1000; ++i)
    {
        oversleep.Observe(10'000'000);
    }
    EXPECT_EQ(oversleep.Expected(), 150'000);
    for (int i = 0; i < 1000; ++i)
    {
        oversleep.Observe(0);
    }
    EXPECT_EQ(oversleep.Expected(), 0);
}
