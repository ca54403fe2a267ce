// SPDX-License-Identifier: GPL-2.0-or-later
#include "guarantee.h"

#include <gtest/gtest.h>

namespace netboxit
{

namespace
{

constexpr std::int64_t MS = 1'000'000;

} // namespace

TEST(Guarantee, NothingIsUrgentThatDoesNotWait)
{
    Guarantee guarantee(80e3, 0.010, {});
    EXPECT_FALSE(guarantee.IsUrgent(0));
    EXPECT_FALSE(guarantee.IsUrgent(1000 * MS));
}

TEST(Guarantee, AFewBytesAreUrgentOnceTheyHaveWaited)
{
    Guarantee guarantee(80e3, 0.010, {});
    guarantee.Waits(50, 100 * MS);
    EXPECT_FALSE(guarantee.IsUrgent(109 * MS));
    EXPECT_TRUE(guarantee.IsUrgent(110 * MS));
}

TEST(Guarantee, WhatTheRateGivesInThatTimeIsUrgentAtOnce)
{
    Guarantee guarantee(80e3, 0.010, {}); // 100 bytes in 10 ms
    guarantee.Waits(99, 0);
    EXPECT_FALSE(guarantee.IsUrgent(0));
    guarantee.Waits(100, 0);
    EXPECT_TRUE(guarantee.IsUrgent(0));
}

TEST(Guarantee, HoldsForNoMoreThanItsRate)
{
    Guarantee guarantee(80e3, 0.010, {});
    std::uint64_t served = 0;
    for (std::int64_t now = 0; now < 10'000 * MS; now += MS)
    {
        guarantee.Waits(1'000'000, now);
        if (guarantee.IsUrgent(now))
        {
            guarantee.Served(500, now, true);
            served += 500;
        }
    }
    // Ten seconds at 10 000 bytes a second and the full bucket of two seconds at first.
    EXPECT_NEAR(static_cast<double>(served), 120'000.0, 1'000.0);
}

TEST(Guarantee, WhatIsWonInCompetitionIsNotOwed)
{
    Guarantee guarantee(80e3, 0.010, {});
    guarantee.Waits(10'000'000, 0);
    guarantee.Served(5'000'000, 0, false);
    EXPECT_FALSE(guarantee.IsUrgent(0));
    EXPECT_TRUE(guarantee.IsUrgent(10 * MS));
}

TEST(Guarantee, AllocationAndRetentionPriorityGoesBeforeThatOfTheQci)
{
    EXPECT_LT((Precedence{1, 90}), (Precedence{2, 5}));
    EXPECT_LT((Precedence{2, 5}), (Precedence{2, 20}));
}

} // namespace netboxit
