// SPDX-License-Identifier: GPL-2.0-or-later
#include "kingman.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

using namespace netboxit;

namespace
{

constexpr double SERVICE = 1e-3; // s, the mean
constexpr int PACKETS = 2'000'000;

/// What a queue with Poisson arrivals at this utilisation and one server tells.
Kingman::Estimate EstimateOf(double utilisation, const std::function<double(std::mt19937_64&)>& service)
{
    std::mt19937_64 numbers(1);
    std::exponential_distribution<double> interval(utilisation / SERVICE);
    Kingman kingman;
    double arrived = 0.0;
    double left = 0.0;
    for (int packet = 0; packet < PACKETS; ++packet)
    {
        arrived += interval(numbers);
        left = std::max(arrived, left) + service(numbers);
        kingman.Arrives(std::llround(arrived * 1e9));
        kingman.Leaves(std::llround(arrived * 1e9), std::llround(left * 1e9));
    }
    return kingman.Take().value();
}

} // namespace

TEST(KingmanTest, TellsTheWaitOfExponentialServices)
{
    std::exponential_distribution<double> service(1.0 / SERVICE);
    for (const double utilisation : {0.3, 0.6, 0.8, 0.9})
    {
        const auto estimate = EstimateOf(utilisation, [&service](auto& numbers) { return service(numbers); });
        const double theory = utilisation / (1.0 - utilisation) * SERVICE; // M/M/1
        EXPECT_NEAR(estimate.utilisation, utilisation, 0.01 * utilisation);
        EXPECT_NEAR(estimate.wait.value(), theory, 0.05 * theory) << utilisation;
    }
}

TEST(KingmanTest, TellsTheWaitOfEqualServices)
{
    for (const double utilisation : {0.3, 0.6, 0.8, 0.9})
    {
        const auto estimate = EstimateOf(utilisation, [](auto&) { return SERVICE; });
        const double theory = utilisation / (1.0 - utilisation) * SERVICE / 2.0; // M/D/1, by Pollaczek and Khinchine
        EXPECT_NEAR(estimate.wait.value(), theory, 0.05 * theory) << utilisation;
    }
}

TEST(KingmanTest, HasNoWaitOfAServerThatIsAlwaysBusy)
{
    Kingman kingman;
    for (int packet = 0; packet < 10; ++packet)
    {
        kingman.Arrives(packet * 1'000'000);
        kingman.Leaves(packet * 1'000'000, (packet + 1) * 2'000'000);
    }
    const auto estimate = kingman.Take();
    ASSERT_TRUE(estimate);
    EXPECT_DOUBLE_EQ(estimate->utilisation, 2.0);
    EXPECT_FALSE(estimate->wait);
}

TEST(KingmanTest, BeginsAnewWithEachEstimate)
{
    Kingman kingman;
    EXPECT_FALSE(kingman.Take());
    for (int packet = 1; packet <= 10; ++packet)
    {
        kingman.Arrives(packet * 10'000'000);
        kingman.Leaves(packet * 10'000'000, packet * 10'000'000 + 1'000'000);
    }
    EXPECT_NEAR(kingman.Take()->utilisation, 0.1, 1e-9);
    kingman.Arrives(110'000'000);
    EXPECT_FALSE(kingman.Take()) << "one packet has no variance";
}
