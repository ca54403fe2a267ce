// SPDX-License-Identifier: GPL-2.0-or-later
#include "channels.h"

#include <gtest/gtest.h>

using namespace netboxit::queueing::tempest;

TEST(Channels, KeepWhatTheyLose)
{
    Channels channels({0.1, 0.7}, {}, 1);
    channels.Step();
    EXPECT_FALSE(channels.Change());
    EXPECT_EQ(channels.Loss(0), 0.1);
    EXPECT_EQ(channels.Loss(1), 0.7);
}

TEST(Channels, AreInEachStateHalfOfTheTimeAndForAsLongAsIsSaid)
{
    Channels channels({0, 0, 0, 0}, {0.1, 0.9, 20}, 1);
    constexpr int STEPS = 200'000;
    double good = 0, changes = 0;
    for (int step = 0; step < STEPS; ++step)
    {
        const double before = channels.Loss(2);
        channels.Step();
        ASSERT_TRUE(channels.Loss(2) == 0.1 || channels.Loss(2) == 0.9);
        good += channels.Loss(2) == 0.1 ? 1 : 0;
        changes += channels.Loss(2) != before ? 1 : 0;
    }
    EXPECT_NEAR(good / STEPS, 0.5, 0.02);
    EXPECT_NEAR(STEPS / changes, 20, 1);
}
