// SPDX-License-Identifier: GPL-2.0-or-later
#include "errors.h"

#include "../queueing/test_random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

using namespace netboxit::errors;
using netboxit::Json;
using netboxit::queueing::Random;

namespace
{

constexpr std::int64_t SECOND = 1'000'000'000;
constexpr int COUNT = 400'000;

Errors Make(const Json& value, unsigned seed = 1)
{
    Errors errors(Random{seed}, Random{seed + 1000});
    errors.Set(value, 0);
    errors.Begin(0);
    return errors;
}

/// One frame after the other, each of a second: which are lost.
std::vector<bool> Fates(Errors& errors, int count, std::uint32_t bytes = 100)
{
    std::vector<bool> lost;
    for (std::int64_t n = 0; n < count; ++n)
    {
        lost.push_back(errors.IsLost({n * SECOND, (n + 1) * SECOND, bytes}));
    }
    return lost;
}

double Share(const std::vector<bool>& lost)
{
    return static_cast<double>(std::accumulate(lost.begin(), lost.end(), 0)) / static_cast<double>(lost.size());
}

double Deviation(double share)
{
    return std::sqrt(share * (1 - share) / COUNT);
}

Json Periods(const Json& periods, bool repeat)
{
    return {{"model", "lost-periods"}, {"periods", periods}, {"repeat", repeat}};
}

Json Bytes(double interval, const char* distribution)
{
    return {{"model", "byte-intervals"}, {"interval", interval}, {"distribution", distribution}};
}

Json InTime(double good, double bad)
{
    return {{"model", "gilbert-elliott-in-time"}, {"good", good}, {"bad", bad}, {"loss_in_good", 0}, {"loss_in_bad", 1}};
}

} // namespace

TEST(Independent, LosesItsShareOfFramesOfAnyLength)
{
    // The levels of Xylomenos' cellular link (1999, table 3.1).
    for (const double share : {0.01, 0.02, 0.05, 0.1})
    {
        auto errors = Make({{"model", "independent"}, {"probability", share}});
        EXPECT_NEAR(Share(Fates(errors, COUNT, 2)), share, 3 * Deviation(share));
        EXPECT_NEAR(Share(Fates(errors, COUNT, 1500)), share, 3 * Deviation(share));
    }
}

TEST(ByteIntervals, ExponentialOnesLoseAFrameBySize)
{
    // P = 1 - exp(-S / mean); the levels of the WLAN (table 3.3): 2^17 to 2^14 bytes. In %, to three or four digits.
    struct Row
    {
        std::uint32_t bytes;
        std::array<double, 4> lost;
        double tolerance;
    };

    constexpr std::array table{Row{1001, {0.761, 1.516, 3.009, 5.927}, 5e-4},
                               Row{41, {0.031, 0.063, 0.125, 0.250}, 5e-4},
                               Row{2, {0.0015, 0.0031, 0.0061, 0.0122}, 5e-5}};
    for (const auto& row : table)
    {
        for (int level = 0; level < 4; ++level)
        {
            const double mean = std::ldexp(1, 17 - level);
            const double expected = 1 - std::exp(-(row.bytes / mean));
            EXPECT_NEAR(100 * expected, row.lost[level], row.tolerance);
            auto errors = Make(Bytes(mean, "exponential"), row.bytes + level);
            EXPECT_NEAR(Share(Fates(errors, COUNT, row.bytes)), expected, 3 * Deviation(expected)) << row.bytes << " B, " << mean;
        }
    }
}

TEST(ByteIntervals, UniformOnesLoseAFrameBySize)
{
    // A renewal process whose distances are uniform to 2 m: no error in S bytes with (1 - S / 2m)^2, the integral of its excess.
    constexpr double MEAN = 10'000;
    for (const std::uint32_t bytes : {40, 1500, 15'000})
    {
        auto errors = Make(Bytes(MEAN, "uniform"), bytes);
        const double none = std::pow(1 - bytes / (2 * MEAN), 2);
        EXPECT_NEAR(Share(Fates(errors, COUNT, bytes)), 1 - none, 3 * Deviation(none)) << bytes << " B";
    }
}

TEST(ByteIntervals, TimeDoesNotCount)
{
    auto slow = Make(Bytes(5000, "exponential"));
    auto fast = Make(Bytes(5000, "exponential"));
    for (std::int64_t n = 0; n < 1000; ++n)
    {
        EXPECT_EQ(slow.IsLost({n * SECOND, n * SECOND + 1000, 100}), fast.IsLost({n * 1000, n * 1000 + 1000, 100}));
    }
}

TEST(GilbertElliott, ByFrameItLosesItsShareInRuns)
{
    // Hasslinger and Hohlfeld (2008): p / (p + r) of all frames, in runs of 1 / r.
    auto errors = Make(
        {{"model", "gilbert-elliott"}, {"good_to_bad", 0.05}, {"bad_to_good", 0.2}, {"loss_in_good", 0}, {"loss_in_bad", 1}});
    const auto lost = Fates(errors, COUNT);
    int runs = 0;
    for (std::size_t n = 1; n < lost.size(); ++n)
    {
        runs += lost[n] && !lost[n - 1];
    }
    // The correlation at distance d is 0.75^d: the variance is (1 + 0.75) / (1 - 0.75) times that of independent losses.
    EXPECT_NEAR(Share(lost), 0.2, 3 * Deviation(0.2) * std::sqrt(7));
    EXPECT_NEAR(Share(lost) * COUNT / runs, 5, 3 * std::sqrt(5.0 * 4 / runs));
}

TEST(GilbertElliott, InTimeItLosesItsShareAndAsManyFramesAsFitIntoAFade)
{
    // Frames of a second; bad times of 20 s of 100 s.
    auto errors = Make(InTime(80, 20));
    const auto lost = Fates(errors, COUNT);
    int runs = 0;
    for (std::size_t n = 1; n < lost.size(); ++n)
    {
        runs += lost[n] && !lost[n - 1];
    }
    // Seen each second the state is a Markov chain: it leaves bad with 0.8 (1 - x), where x = exp(-1/80 - 1/20).
    const double memory = std::exp(-1.0 / 80 - 1.0 / 20);
    const double leaves = 0.8 * (1 - memory);
    EXPECT_NEAR(Share(lost), 0.2, 3 * Deviation(0.2) * std::sqrt((1 + memory) / (1 - memory)));
    EXPECT_NEAR(Share(lost) * COUNT / runs, 1 / leaves, 3 * std::sqrt((1 - leaves) / leaves / leaves / runs));
}

TEST(GilbertElliott, InTimeTheFadesAreTheSameForWhoeverLooks)
{
    auto often = Make(InTime(8, 2));
    auto seldom = Make(InTime(8, 2));
    for (std::int64_t minute = 0; minute < 10'000; ++minute)
    {
        for (std::int64_t second = 1; second < 60; ++second)
        {
            often.IsLost({(60 * minute + second) * SECOND, (60 * minute + second) * SECOND + 1, 100});
        }
        const auto at = 60 * (minute + 1) * SECOND;
        EXPECT_EQ(often.IsLost({at, at + 1, 100}), seldom.IsLost({at, at + 1, 100})) << minute;
    }
}

TEST(Fades, TwoDirectionsAreIndependent)
{
    auto one = Make(InTime(1, 1), 1);
    auto other = Make(InTime(1, 1), 2);
    const auto lostOfOne = Fates(one, COUNT);
    const auto lostOfOther = Fates(other, COUNT);
    int both = 0;
    for (int n = 0; n < COUNT; ++n)
    {
        both += lostOfOne[n] && lostOfOther[n];
    }
    // Each has the correlation exp(-2 d) at a distance of d seconds.
    const double memory = std::exp(-4);
    EXPECT_NEAR(static_cast<double>(both) / COUNT, 0.25, 4 * Deviation(0.25) * std::sqrt((1 + memory) / (1 - memory)));
}

TEST(LostFrames, AreThoseOfTheTrace)
{
    const Json trace{{"model", "lost-frames"}, {"frames", {0, 1, 1}}, {"repeat", true}};
    auto errors = Make(trace);
    EXPECT_EQ(Fates(errors, 7), (std::vector<bool>{false, true, true, false, true, true, false}));
    auto once = trace;
    once["repeat"] = false;
    errors.Set(once, 7 * SECOND);
    EXPECT_EQ(Fates(errors, 5), (std::vector<bool>{false, true, true, false, false}));
}

TEST(LostPeriods, LoseWhateverIsOnTheMediumMeanwhile)
{
    auto errors = Make(Periods({{1.5, 2.0}, {4.25, 4.5}}, false));
    EXPECT_EQ(Fates(errors, 6), (std::vector<bool>{false, true, false, false, true, false}));
}

TEST(LostPeriods, RepeatAtTheEndOfTheLastRow)
{
    // The row without length says that a round takes 3 s.
    auto errors = Make(Periods({{1.2, 1.4}, {3, 3}}, true));
    EXPECT_EQ(Fates(errors, 8), (std::vector<bool>{false, true, false, false, true, false, false, true}));
    EXPECT_FALSE(errors.IsLost({3'000'000 * SECOND, 3'000'001 * SECOND, 1}));
    EXPECT_TRUE(errors.IsLost({3'000'001 * SECOND, 3'000'002 * SECOND, 1}));
}

TEST(LostPeriods, OutOfOrderAreRefusedAndTheOldOnesStay)
{
    auto errors = Make(Periods({{1, 2}}, false));
    EXPECT_THROW(errors.Set(Periods({{1, 2}, {1.5, 3}}, false), 0), netboxit::OutOfRange);
    EXPECT_THROW(errors.Set(Periods({{2, 1}}, false), 0), netboxit::OutOfRange);
    EXPECT_EQ(Fates(errors, 3), (std::vector<bool>{false, true, false}));
}

TEST(Errors, NothingFadesBeforeTheNetworksTimeBegins)
{
    Errors errors(Random{1}, Random{2});
    errors.Set(InTime(1e-3, 1e3), 0);
    EXPECT_EQ(Share(Fates(errors, 100)), 0);
    errors.Begin(100 * SECOND);
    EXPECT_TRUE(errors.IsLost({101 * SECOND, 102 * SECOND, 100}));
}

TEST(Errors, AnotherModelHoldsFromNowOn)
{
    auto errors = Make({{"model", "independent"}, {"probability", 0}});
    EXPECT_EQ(Share(Fates(errors, 100)), 0);
    errors.Set(Periods({{0, 1}}, false), 100 * SECOND);
    EXPECT_TRUE(errors.IsLost({100 * SECOND, 101 * SECOND, 1}));
    EXPECT_FALSE(errors.IsLost({101 * SECOND, 102 * SECOND, 1}));
    errors.Set({{"model", "independent"}, {"probability", 1}}, 102 * SECOND);
    EXPECT_TRUE(errors.IsLost({102 * SECOND, 103 * SECOND, 1}));
}
