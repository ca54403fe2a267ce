// SPDX-License-Identifier: GPL-2.0-or-later
#include "histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

using netboxit::Histogram;

TEST(Histogram, AnEmptyOneHasNoLateness)
{
    const Histogram histogram;
    EXPECT_EQ(histogram.Count(), 0u);
    EXPECT_EQ(histogram.Percentile(0.5), 0);
    EXPECT_EQ(histogram.Maximum(), 0);
}

TEST(Histogram, SmallValuesAreExact)
{
    Histogram histogram;
    for (int ns = 1; ns <= 1000; ++ns)
    {
        histogram.Record(ns);
    }
    EXPECT_EQ(histogram.Percentile(0.5), 500);
    EXPECT_EQ(histogram.Percentile(0.999), 999);
    EXPECT_EQ(histogram.Percentile(1.0), 1000);
}

TEST(Histogram, PercentilesOfLargeValuesHaveThreeDigits)
{
    std::mt19937_64 random(7);
    std::lognormal_distribution<double> distribution(12, 3);
    Histogram histogram;
    std::vector<std::int64_t> values(5'000'000);
    for (auto& value : values)
    {
        value = std::llround(std::min(distribution(random), 1e12));
        histogram.Record(value);
    }
    std::ranges::sort(values);
    for (const double share : {0.5, 0.9, 0.99, 0.999})
    {
        const auto exact = static_cast<double>(values[static_cast<std::size_t>(std::ceil(share * 5e6)) - 1]);
        EXPECT_NEAR(static_cast<double>(histogram.Percentile(share)), exact, exact / 1000) << share;
    }
    EXPECT_EQ(histogram.Maximum(), values.back());
}

TEST(Histogram, CountsAreOfWhatDoesNotExceedABound)
{
    Histogram histogram;
    for (int us = 1; us <= 1000; ++us)
    {
        histogram.Record(us * 1000 - 500);
    }
    const std::array<std::int64_t, 4> bounds{1, 1000, 500'500, 2'000'000};
    const auto counts = histogram.UpTo(bounds);
    EXPECT_EQ(counts[0], 0u);
    EXPECT_EQ(counts[1], 1u);
    EXPECT_NEAR(static_cast<double>(counts[2]), 500, 1);
    EXPECT_EQ(counts[3], 1000u);
    EXPECT_EQ(histogram.Sum(), 500'000'000);
    EXPECT_EQ(Histogram().UpTo(bounds), std::vector<std::uint64_t>(4));
}

TEST(Histogram, ExtremesNeitherVanishNorBreakIt)
{
    Histogram histogram;
    histogram.Record(-5);
    histogram.Record(std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(histogram.Count(), 2u);
    EXPECT_EQ(histogram.Percentile(0.5), 0);
    EXPECT_EQ(histogram.Maximum(), std::numeric_limits<std::int64_t>::max());
    histogram.Reset();
    EXPECT_EQ(histogram.Count(), 0u);
}
