// SPDX-License-Identifier: GPL-2.0-or-later
#include "set_associative.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

using namespace netboxit::queueing;

TEST(SetAssociative, SharesAPlaceAsOftenAsASetHasNineAtATime)
{
    // Of 500 hashes each is in one of 128 sets: a set has a binomial number of them, and those beyond eight share a place.
    constexpr int HASHES = 500;
    double expected = 0;
    double probability = std::pow(127.0 / 128, HASHES);
    for (int in = 0; in <= HASHES; ++in)
    {
        expected += 128 * probability * std::max(in - 8, 0);
        probability *= static_cast<double>(HASHES - in) / (in + 1) / 127;
    }
    std::mt19937 random(6);
    constexpr int TRIALS = 2000;
    std::uint64_t collisions = 0;
    for (int trial = 0; trial < TRIALS; ++trial)
    {
        SetAssociative places(1024);
        std::vector<bool> taken(1024);
        for (int hash = 0; hash < HASHES; ++hash)
        {
            taken[places.Find(static_cast<std::uint32_t>(random()), [&](std::uint32_t place) { return !taken[place]; })] = true;
        }
        collisions += places.Collisions();
    }
    EXPECT_GT(expected, 1);
    EXPECT_NEAR(static_cast<double>(collisions) / TRIALS, expected, 0.05 * expected);
}

TEST(SetAssociative, KeepsAPlaceInMindAndReusesFreeOnes)
{
    SetAssociative places(20);
    EXPECT_EQ(places.Places(), 16u);
    std::set<std::uint32_t> taken;
    const auto isFree = [&](std::uint32_t place) { return !taken.contains(place); };
    for (std::uint32_t hash = 0; hash < 16; hash += 2) // all in one set
    {
        taken.insert(places.Find(hash, isFree));
    }
    EXPECT_EQ(taken.size(), 8u);
    EXPECT_EQ(places.Collisions(), 0u);
    const auto third = places.Find(4, isFree);
    EXPECT_TRUE(taken.contains(places.Find(16, isFree)));
    EXPECT_EQ(places.Collisions(), 1u);
    taken.erase(third);
    EXPECT_EQ(places.Find(4, isFree), third);
    EXPECT_EQ(places.Find(16, isFree), third);
    EXPECT_EQ(SetAssociative(1).Places(), 1u);
}
