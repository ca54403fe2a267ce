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
