// SPDX-License-Identifier: GPL-2.0-or-later
#include "capacity.h"

#include <gtest/gtest.h>

using namespace netboxit::link;
using netboxit::Json;
using netboxit::Timeline;

namespace
{

constexpr std::int64_t MS = 1'000'000;
constexpr std::int64_t SECOND = 1000 * MS;

RateOverTime Rate(const Json& points, Timeline::Between between, bool repeat)
{
    RateOverTime rate(Series(points, between, repeat));
    rate.Begin(0);
    return rate;
}

} // namespace

TEST(Capacity, AFrameTakesItsBitsByTheRate)
{
    ConstantRate rate(8e6);
    EXPECT_EQ(rate.Finish(5, 1000), 5 + MS);
}

TEST(Capacity, ARateThatChangesMeanwhileCountsFromThen)
{
    auto rate = Rate({{0, 8e3}, {1, 16e3}}, Timeline::Between::Hold, false);
    EXPECT_EQ(rate.Finish(0, 1000), SECOND);
    EXPECT_EQ(rate.Finish(0, 3000), 2 * SECOND);       // 1 s at 8 kbit/s, 1 s at 16
    EXPECT_EQ(rate.Finish(SECOND / 2, 1500), SECOND + SECOND / 2);
}

TEST(Capacity, ARisingRateIsIntegrated)
{
    auto rate = Rate({{0, 0}, {10, 80e3}}, Timeline::Between::Line, false);
    EXPECT_NEAR(static_cast<double>(rate.Finish(0, 12500)) / SECOND, 5.0, 1e-6); // 4000 t^2 = 100 000 bits
    EXPECT_NEAR(rate.Rate(5 * SECOND), 40e3, 1e-6);
    EXPECT_EQ(rate.Finish(10 * SECOND, 10000), 11 * SECOND);
}

TEST(Capacity, ASeriesRepeatsAtItsLastPoint)
{
    auto rate = Rate({{0, 8e3}, {1, 16e3}, {2, 0}}, Timeline::Between::Hold, true);
    EXPECT_EQ(rate.Rate(0), 8e3);
    EXPECT_EQ(rate.Rate(3 * SECOND + 1), 16e3);
    EXPECT_EQ(rate.Finish(2 * SECOND, 3000), 4 * SECOND);
}

TEST(Capacity, ASeriesStandsStillBeforeItBegins)
{
    RateOverTime rate(Series({{0, 8e3}, {1, 16e3}}, Timeline::Between::Hold, false));
    EXPECT_EQ(rate.Rate(50 * SECOND), 8e3);
    EXPECT_EQ(rate.Finish(50 * SECOND, 1000), 51 * SECOND);
    rate.Begin(60 * SECOND);
    EXPECT_EQ(rate.Rate(60 * SECOND + SECOND / 2), 8e3);
    EXPECT_EQ(rate.Rate(61 * SECOND + 1), 16e3);
}

TEST(Capacity, ARateOfZeroForEverIsGivenUp)
{
    auto rate = Rate({{0, 8e3}, {1, 0}}, Timeline::Between::Hold, false);
    EXPECT_GT(rate.Finish(2 * SECOND, 100) - 2 * SECOND, GIVE_UP);
    auto repeated = Rate({{0, 0}, {1, 0}}, Timeline::Between::Hold, true);
    EXPECT_GT(repeated.Finish(0, 100), GIVE_UP);
}

TEST(Opportunities, OnePacketLeavesAtEach)
{
    Opportunities moments({5, 10, 10, 20}, true);
    moments.Begin(0);
    EXPECT_EQ(moments.Finish(0, 1504), 5 * MS);
    EXPECT_EQ(moments.Finish(5 * MS, 1504), 10 * MS);
    EXPECT_EQ(moments.Finish(10 * MS, 1504), 10 * MS);
    EXPECT_EQ(moments.Finish(10 * MS, 1504), 20 * MS);
    EXPECT_EQ(moments.Finish(20 * MS, 1504), 25 * MS);
    EXPECT_DOUBLE_EQ(moments.Rate(0), 4 * 1504 * 8 / 0.02);
}

TEST(Opportunities, SmallPacketsShareOneAndLargeOnesTakeMore)
{
    Opportunities moments({5, 10}, true);
    moments.Begin(0);
    EXPECT_EQ(moments.Finish(0, 752), 5 * MS);
    EXPECT_EQ(moments.Finish(5 * MS, 752), 5 * MS);
    EXPECT_EQ(moments.Finish(5 * MS, 3000), 15 * MS); // 1504 at 10, 1496 at 15
    EXPECT_EQ(moments.Finish(15 * MS, 8), 15 * MS);
    EXPECT_EQ(moments.Finish(15 * MS, 1), 20 * MS);
}

TEST(Opportunities, WhatIsNotUsedIsLost)
{
    Opportunities moments({5, 10}, true);
    moments.Begin(0);
    EXPECT_EQ(moments.Finish(0, 100), 5 * MS);
    EXPECT_EQ(moments.Finish(6 * MS, 100), 10 * MS); // the rest of 5 ms is gone
    EXPECT_EQ(moments.Finish(1003 * MS, 1504), 1005 * MS);
    EXPECT_EQ(moments.Finish(1005 * MS, 1504), 1010 * MS);
}

TEST(Opportunities, AnEndedTraceSendsNothing)
{
    Opportunities moments({5}, false);
    moments.Begin(0);
    EXPECT_EQ(moments.Finish(0, 1504), 5 * MS);
    EXPECT_GT(moments.Finish(5 * MS, 1), 5 * MS + GIVE_UP);
}
