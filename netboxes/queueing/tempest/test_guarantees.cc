// SPDX-License-Identifier: GPL-2.0-or-later
#include "guarantees.h"

#include <gtest/gtest.h>

using namespace netboxit::queueing::tempest;

TEST(Guarantees, OfASequenceCalculatedByHand)
{
    Guarantees guarantees({1, 1});
    for (const unsigned flow : {0, 0, 1, 1})
    {
        guarantees.Enqueued(flow);
    }
    for (const unsigned flow : {0, 0, 1, 1})
    {
        guarantees.Departed(flow);
    }
    const auto& [first, second] = std::pair(guarantees.Flows()[0], guarantees.Flows()[1]);
    EXPECT_EQ(first.sent, 2u);
    EXPECT_EQ(first.longest, 2u);
    EXPECT_EQ(first.sumOfDelays, 3.0);
    EXPECT_EQ(first.behind, 0.0);
    EXPECT_EQ(first.late, 0.0);
    // When its first packet has gone it has a packet of three, and a half of them is its share; alone it would have gone after two.
    EXPECT_EQ(second.longest, 4u);
    EXPECT_EQ(second.behind, 0.5);
    EXPECT_EQ(second.late, 1.0);
    EXPECT_EQ(guarantees.Unfairness(), 2.0);
}

TEST(Guarantees, CountWhileAFlowHasSomething)
{
    Guarantees guarantees({1, 1});
    for (int turn = 0; turn < 100; ++turn)
    {
        guarantees.Enqueued(0);
        guarantees.Departed(0);
    }
    // What the first one had while there was nobody else is no debt to the second one.
    guarantees.Enqueued(1);
    guarantees.Departed(1);
    EXPECT_EQ(guarantees.Flows()[1].behind, 0.0);
    EXPECT_EQ(guarantees.Flows()[1].late, 0.0);
    EXPECT_EQ(guarantees.Unfairness(), 0.0);
}

TEST(Guarantees, OfManyFlowsNoPairsAreCompared)
{
    EXPECT_FALSE(Guarantees(netboxit::queueing::Weights(Guarantees::PAIRED + 1, 1)).Unfairness());
}
