// SPDX-License-Identifier: GPL-2.0-or-later
#include "multipath_fading.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace netboxit
{

namespace
{

constexpr int PATHS = 4000;

/// Mean over many paths of a function of one.
template <typename Function>
double MeanOver(Function function)
{
    auto random = ns3::CreateObject<ns3::UniformRandomVariable>();
    random->SetStream(1);
    double sum = 0.0;
    for (int i = 0; i < PATHS; ++i)
    {
        sum += function(RayleighPath(*random));
    }
    return sum / PATHS;
}

} // namespace

TEST(Fading, MeanPowerIsOne)
{
    EXPECT_NEAR(MeanOver([](const RayleighPath& path) { return std::norm(path.At(0.7, 70.0)); }), 1.0, 0.05);
}

TEST(Fading, PowerIsExponentiallyDistributedAsThatOfARayleighChannel)
{
    for (const double threshold : {0.1, 0.5, 2.0})
    {
        const double below = MeanOver(
            [threshold](const RayleighPath& path) { return std::norm(path.At(0.3, 5.0)) < threshold ? 1.0 : 0.0; });
        EXPECT_NEAR(below, 1.0 - std::exp(-threshold), 0.025) << threshold;
    }
}

TEST(Fading, AutocorrelationIsClarkes)
{
    for (const double phase : {0.5, 1.5, 2.4048, 4.0})
    {
        const double later = phase / (2.0 * std::numbers::pi * 70.0);
        const double correlation = MeanOver(
            [later](const RayleighPath& path) { return (path.At(0.2, 70.0) * std::conj(path.At(0.2 + later, 70.0))).real(); });
        EXPECT_NEAR(correlation, std::cyl_bessel_j(0.0, phase), 0.05) << phase;
    }
}

TEST(Fading, ProfilesHaveTheTapsOfTheStandard)
{
    EXPECT_EQ(TapsOf("EPA").size(), 7u);
    EXPECT_EQ(TapsOf("EVA").size(), 9u);
    EXPECT_EQ(TapsOf("ETU").size(), 9u);
    EXPECT_DOUBLE_EQ(TapsOf("ETU").back().delay, 5e-6);
    EXPECT_TRUE(TapsOf("none").empty());
}

} // namespace netboxit
