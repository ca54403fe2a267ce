// SPDX-License-Identifier: GPL-2.0-or-later
#include "timeline.h"

#include <gtest/gtest.h>

namespace netboxit
{

const Json POINTS = Json::parse("[[1, 10], [3, 20], [4, 0]]");

TEST(Timeline, HoldsAValueUntilTheNextPoint)
{
    const Timeline timeline(POINTS, Timeline::Between::Hold);
    EXPECT_EQ(timeline.At(0), 10);
    EXPECT_EQ(timeline.At(2.999), 10);
    EXPECT_EQ(timeline.At(3), 20);
    EXPECT_EQ(timeline.At(1e9), 0);
}

TEST(Timeline, DrawsLinesFromPointToPoint)
{
    const Timeline timeline(POINTS, Timeline::Between::Line);
    EXPECT_EQ(timeline.At(0), 10);
    EXPECT_EQ(timeline.At(2), 15);
    EXPECT_EQ(timeline.At(3.5), 10);
    EXPECT_EQ(timeline.At(5), 0);
}

TEST(Timeline, SaysWhenItChangesNext)
{
    const Timeline timeline(POINTS, Timeline::Between::Hold);
    EXPECT_EQ(timeline.Next(0), 1);
    EXPECT_EQ(timeline.Next(1), 3);
    EXPECT_EQ(timeline.Next(4), std::nullopt);
}

TEST(Timeline, RefusesTimesThatDoNotRise)
{
    EXPECT_THROW(Timeline(Json::parse("[[1, 0], [1, 2]]"), Timeline::Between::Hold), std::invalid_argument);
    EXPECT_THROW(Timeline(Json::array(), Timeline::Between::Hold), std::invalid_argument);
}

} // namespace netboxit
