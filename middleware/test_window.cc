// SPDX-License-Identifier: GPL-2.0-or-later
#include "window.h"

#include <gtest/gtest.h>

using namespace netboxit::middleware;

/// Eq. 2.2 in the network of section 2.2.4: 2 Mbit/s for 16 nodes, 300 ms one way, segments of 500 bytes.
TEST(Window, IsBudgetTimesRoundTripInWholeSegments)
{
    const auto window = WindowOf(125'000, 600 * MILLISECOND, 500);
    EXPECT_EQ(window.slowStartThreshold, 9000U) << "15,625 bytes/s for 0.6 s are 9,375 bytes";
    EXPECT_EQ(window.congestionWindow, 4500U) << "half of them are 4,687";
}

TEST(Window, RoundsTheBytesOfASecondUpAsPrinted)
{
    EXPECT_EQ(WindowOf(8001, SECOND, 1).slowStartThreshold, 1001U);
    EXPECT_EQ(WindowOf(8000, SECOND, 1).slowStartThreshold, 1000U);
}

TEST(Window, HasTwoSegmentsAtLeast)
{
    for (const auto budget : {Rate{0}, Rate{1}, Rate{100'000}})
    {
        const auto window = WindowOf(budget, 100 * MILLISECOND, 1000);
        EXPECT_EQ(window.slowStartThreshold, 2000U);
        EXPECT_EQ(window.congestionWindow, 2000U);
    }
}

TEST(Window, TakesWhateverItIsGiven)
{
    EXPECT_EQ(WindowOf(-1, -1, 0).slowStartThreshold, 2U);
    EXPECT_EQ(WindowOf(MOST_RATE, SECOND, 1).slowStartThreshold, static_cast<std::uint64_t>(MOST_RATE / 8));
    EXPECT_GT(WindowOf(MOST_RATE, NEVER, 1).slowStartThreshold, UINT64_MAX / 4);
}
