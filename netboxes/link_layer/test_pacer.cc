// SPDX-License-Identifier: GPL-2.0-or-later
// Spec 1.7.3.
#include "pacer.h"

#include <gtest/gtest.h>

using netboxit::multiservice::Pacer;

TEST(PacerTest, WithoutABatchItIsAlwaysOpen)
{
    Pacer pacer;
    pacer.SetBatch(0);
    for (int packet = 0; packet < 10; ++packet)
    {
        EXPECT_TRUE(pacer.IsOpen(5));
        pacer.Take(5, 1000);
    }
}

TEST(PacerTest, APacketBlocksForItsNominalTime)
{
    Pacer pacer;
    pacer.SetBatch(1);
    EXPECT_TRUE(pacer.IsOpen(50));
    pacer.Take(50, 1000);
    EXPECT_FALSE(pacer.IsOpen(50));
    EXPECT_FALSE(pacer.IsOpen(1049));
    EXPECT_EQ(pacer.Opens(), 1050);
    EXPECT_TRUE(pacer.IsOpen(1050));
    pacer.Take(2000, 10);
    EXPECT_EQ(pacer.Opens(), 2010); // no credit for the time in which nothing came
}

TEST(PacerTest, ABatchBlocksForItsTotalTimeFromItsFirstPacket)
{
    Pacer pacer;
    pacer.SetBatch(3);
    pacer.Take(100, 1000);
    EXPECT_TRUE(pacer.IsOpen(100));
    pacer.Take(300, 1000);
    EXPECT_TRUE(pacer.IsOpen(300));
    pacer.Take(400, 500);
    EXPECT_FALSE(pacer.IsOpen(2599));
    EXPECT_EQ(pacer.Opens(), 2600);
    EXPECT_TRUE(pacer.IsOpen(2600));
    pacer.Take(2600, 1000);
    EXPECT_TRUE(pacer.IsOpen(2600));
}
