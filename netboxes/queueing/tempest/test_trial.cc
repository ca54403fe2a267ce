// SPDX-License-Identifier: GPL-2.0-or-later
#include "trial.h"

#include <gtest/gtest.h>

using namespace netboxit;
using namespace netboxit::queueing;
using namespace netboxit::queueing::tempest;

namespace
{

/// The stations and services of Grazia, 4.1.3.1: twenty stations, each with a flow of weight 20, one of 10, and three of 1.
Options Services(const std::string& scheduler)
{
    Options options;
    options.events = 400'000;
    options.mostTotal = 300;
    options.burst = 1;
    options.scheduler = scheduler;
    for (const auto& [weight, count] : {std::pair{20U, 20}, {10U, 20}, {1U, 60}})
    {
        options.weights.insert(options.weights.end(), static_cast<std::size_t>(count), weight);
    }
    return options;
}

Json OfWeight(const Json& told, unsigned weight)
{
    for (const auto& of : told.at("weights"))
    {
        if (of.at("weight") == weight)
        {
            return of;
        }
    }
    return {};
}

} // namespace

TEST(Trial, DelaysAreWithinThePublishedBounds)
{
    // Grazia, 4.3.3.2: of flows of weight 20, 2 L / (phi R) = 16.6 ms with WF2Q+, and (1 / phi_min + 1 / phi + N - 1) L / R = 199.5 ms with
    // DRR, which is far from it.
    const double fair = OfWeight(Try(Services("wf2q+")), 20).at("t_wfi_ms");
    const double round = OfWeight(Try(Services("drr")), 20).at("t_wfi_ms");
    EXPECT_LE(fair, 16.7);
    EXPECT_GT(round, 16.7);
    EXPECT_LE(round, 199.6);
    for (const auto* const name : {"qfq", "qfq+"})
    {
        EXPECT_LT(OfWeight(Try(Services(name)), 20).at("t_wfi_ms"), round) << name;
    }
}

TEST(Trial, EveryPacketGoesOnce)
{
    for (const auto* const name : {"fifo", "drr", "scfq", "wf2q+", "qfq", "qfq+"})
    {
        for (const unsigned burst : {0, 2})
        {
            auto options = Services(name);
            options.burst = burst;
            options.events = 20'001;
            const auto told = Try(options);
            EXPECT_EQ(told.at("packets"), 10'001) << name;
            std::uint64_t sent = 0;
            for (const auto& of : told.at("weights"))
            {
                sent += of.at("packets").get<std::uint64_t>();
            }
            EXPECT_EQ(sent, 10'001u) << name;
        }
    }
}

TEST(Trial, WithoutPrefetchedPacketsTwoSchedulersAreTheFirstOneAlone)
{
    auto alone = Services("wf2q+"), twice = alone;
    twice.below = "qfq+";
    twice.losses.assign(20, 0.1);
    twice.stationWeights.assign(20, 900);
    auto told = Try(alone), of = Try(twice);
    EXPECT_EQ(told.at("weights"), of.at("weights"));
    EXPECT_NEAR(of.at("throughput").get<double>(), 0.9, 1e-9);
    twice.prefetched = 100;
    EXPECT_NE(told.at("weights"), Try(twice).at("weights"));
}

TEST(Trial, IntegratedItSendsToGoodStationsWhileTheyHaveSomething)
{
    // Refilled, so that there is always something for good ones: twenty stations that lose 0 to 1; the good ones lose 0.1 on average.
    auto options = Services("w2f2q");
    options.leastTotal = 280;
    options.burst = 0;
    for (int station = 0; station < 20; ++station)
    {
        options.losses.push_back(station / 19.0);
    }
    options.mostLoss = 0.2;
    const auto told = Try(options);
    std::uint64_t bad = 0;
    for (const auto& station : told.at("stations"))
    {
        bad += station.at("loss") > 0.2 ? station.at("packets").get<std::uint64_t>() : 0;
    }
    // At the end of the trial all that waits goes.
    EXPECT_LE(bad, 300u);
    EXPECT_NEAR(told.at("throughput").get<double>(), (1 + 18 / 19.0 + 17 / 19.0 + 16 / 19.0) / 4, 0.01);
    // Emptied each time, nothing is chosen: as many are sent to each as came.
    options.leastTotal = 0;
    EXPECT_NEAR(Try(options).at("throughput").get<double>(), 0.5, 0.01);
}

TEST(Trial, ChannelsThatChangeAreUsedWhileTheyAreGood)
{
    auto options = Services("wf2q+");
    options.below = "w2f2q";
    options.prefetched = 100;
    options.burst = 0;
    options.leastTotal = 280;
    options.losses.assign(20, 0.5);
    options.states = {0.0, 1.0, 50};
    options.stationWeights.assign(20, 1);
    options.mostLoss = 0.2;
    const double chosen = Try(options).at("throughput");
    options.below = "fifo";
    const double blind = Try(options).at("throughput");
    // Half of the time each channel is good: who does not know when loses a half.
    EXPECT_NEAR(blind, 0.5, 0.05);
    EXPECT_GT(chosen, 0.8);
}

TEST(Trial, APhaseEndsWhereAFlowHasTooFew)
{
    auto options = Services("drr");
    options.burst = 0;
    options.leastTotal = 1;
    options.leastOfFlow = 2;
    const auto told = Try(options);
    // Each flow has three packets when a phase of dequeues begins; one of the greatest weight sends two of them before it ends.
    EXPECT_GT(OfWeight(told, 20).at("packets"), OfWeight(told, 1).at("packets"));
    EXPECT_TRUE(told.at("ns_per_packet").is_null());
}
