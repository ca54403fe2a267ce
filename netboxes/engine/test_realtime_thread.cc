// SPDX-License-Identifier: GPL-2.0-or-later
#include "realtime_thread.h"

#include <gtest/gtest.h>

using netboxit::Budget;

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
