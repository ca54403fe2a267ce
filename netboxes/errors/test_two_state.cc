// SPDX-License-Identifier: GPL-2.0-or-later
#include "two_state.h"

#include "../queueing/test_random.h"

#include <gtest/gtest.h>

#include <cmath>

// The PCS link of Xylomenos (1999, table 3.2): 64 kbit/s, 10 s of good time on the mean, bit error rates 10^-6 and 10^-2.

using namespace netboxit::errors;
using netboxit::Json;

namespace
{

constexpr double RATE = 64e3;
constexpr double GOOD = 10;
constexpr double ERRORS_IN_GOOD = 1e-6;
constexpr double ERRORS_IN_BAD = 1e-2;
constexpr std::int64_t SECOND = 1'000'000'000;

/// In how many frames of a stationary channel some bit is wrong: 1 - p exp((Q - H) T) 1, with the stationary distribution p, the
/// generator Q of the two states, the rates of errors H on its diagonal, and the time T that the frame takes.
double ExpectedLoss(double bytes, double bad)
{
    const double time = 8 * bytes / RATE;
    const double a = (-1 / GOOD + RATE * std::log1p(-ERRORS_IN_GOOD)) * time;
    const double b = time / GOOD;
    const double c = time / bad;
    const double d = (-1 / bad + RATE * std::log1p(-ERRORS_IN_BAD)) * time;
    // exp of a matrix A of two rows, by its eigenvalues s + q and s - q: e^s (cosh q + sinh(q) / q (A - s)).
    const double s = (a + d) / 2;
    const double q = std::sqrt((a - d) * (a - d) / 4 + b * c);
    const double even = std::exp(s) * std::cosh(q);
    const double odd = std::exp(s) * std::sinh(q) / q;
    const double survivesFromGood = even + odd * (a - s + b);
    const double survivesFromBad = even + odd * (c + d - s);
    return 1 - (GOOD * survivesFromGood + bad * survivesFromBad) / (GOOD + bad);
}

struct Row
{
    std::uint32_t bytes;
    std::array<double, 4> lost; ///< %, by level
};

constexpr std::array BAD{0.1, 0.2, 0.5, 1.0}; ///< mean, s, by level

/// Printed to three digits.
constexpr std::array TABLE{
    Row{251, {1.464, 2.432, 5.220, 9.529}},
    Row{252, {1.466, 2.434, 5.222, 9.531}},
    Row{253, {1.468, 2.436, 5.224, 9.533}},
    Row{41, {1.009, 1.943, 4.639, 8.805}},
    Row{3, {0.215, 0.423, 1.023, 1.951}},
    Row{2, {0.149, 0.293, 0.709, 1.352}},
};

Json Parameters(double good, double bad, double errorsInGood)
{
    return {{"good", good}, {"bad", bad}, {"bit_error_rate_in_good", errorsInGood}, {"bit_error_rate_in_bad", ERRORS_IN_BAD}};
}

TwoState Channel(double bad, unsigned seed)
{
    TwoState channel(netboxit::queueing::Random(seed), netboxit::queueing::Random(seed + 1));
    channel.Set(Parameters(GOOD, bad, ERRORS_IN_GOOD), 0);
    return channel;
}

Transmission FrameAt(std::int64_t start, std::uint32_t bytes)
{
    return {start, start + static_cast<std::int64_t>(8e9 * bytes / RATE), bytes};
}

} // namespace

TEST(TwoState, TheClosedFormGivesTheTable)
{
    for (const auto& row : TABLE)
    {
        for (std::size_t level = 0; level < BAD.size(); ++level)
        {
            EXPECT_NEAR(100 * ExpectedLoss(row.bytes, BAD[level]), row.lost[level], 5e-4)
                << row.bytes << " B, level " << level + 1;
        }
    }
}

TEST(TwoState, InALongRunSoMuchIsLost)
{
    // So far apart that the channel has forgotten its state: exp(-20 (1/10 + 1/bad)) of it is left, 3e-10 at the most.
    constexpr std::int64_t GAP = 20 * SECOND;
    constexpr int COUNT = 200'000;
    for (const auto& row : TABLE)
    {
        for (std::size_t level = 0; level < BAD.size(); ++level)
        {
            auto channel = Channel(BAD[level], static_cast<unsigned>(17 * row.bytes + 3 * level));
            channel.Begin(0);
            int lost = 0;
            for (std::int64_t n = 1; n <= COUNT; ++n)
            {
                lost += channel.IsLost(FrameAt(n * GAP, row.bytes));
            }
            const double expected = ExpectedLoss(row.bytes, BAD[level]);
            const double deviation = std::sqrt(expected * (1 - expected) / COUNT);
            EXPECT_NEAR(static_cast<double>(lost) / COUNT, expected, 3 * deviation) << row.bytes << " B, level " << level + 1;
        }
    }
}

TEST(TwoState, AFrameThatTheChannelTurnsInHasEachRateForItsPart)
{
    // Good until 1 s, then bad: the second draw of the fades would end the bad time after 300 s.
    std::vector<double> times{1 - std::exp(-0.1), 1 - std::exp(-30.0)};
    std::size_t next = 0;
    double chance = 0;
    TwoState channel([&] { return chance; }, [&] { return times.at(next++); });
    channel.Set(Parameters(10, 10, 0), 0);
    channel.Begin(0);
    // 100 bytes in 1 s, of which a quarter is in the bad time: 200 bits.
    const Transmission frame{SECOND / 4, SECOND / 4 + SECOND, 100};
    const double survives = std::pow(1 - ERRORS_IN_BAD, 200);
    auto other = channel;
    chance = survives + 1e-6;
    EXPECT_TRUE(channel.IsLost(frame));
    next = 1;
    chance = survives - 1e-6;
    EXPECT_FALSE(other.IsLost(frame));
}

TEST(TwoState, AFadePassesWhileNothingIsSent)
{
    std::vector<double> times{1 - std::exp(-0.1), 1 - std::exp(-1.0), 1 - std::exp(-30.0)};
    std::size_t next = 0;
    TwoState channel([] { return 0.5; }, [&] { return times.at(next++); });
    channel.Set(Parameters(10, 1, 0), 0);
    channel.Begin(5 * SECOND);
    // Bad from 6 s to 7 s.
    auto busy = channel;
    EXPECT_FALSE(busy.IsLost(FrameAt(5'900'000'000, 250)));
    EXPECT_TRUE(busy.IsLost(FrameAt(6'100'000'000, 250)));
    EXPECT_FALSE(busy.IsLost(FrameAt(7'100'000'000, 250)));
    next = 1;
    EXPECT_FALSE(channel.IsLost(FrameAt(7'100'000'000, 250)));
}

TEST(TwoState, TheCourseOfFadesIsTheSameWhateverIsSent)
{
    auto few = Channel(1, 5);
    auto many = Channel(1, 5);
    few.Begin(0);
    many.Begin(0);
    int differ = 0;
    int lost = 0;
    for (std::int64_t second = 0; second < 20'000; ++second)
    {
        // Long enough to be lost in any bad time, and hardly ever in a good one: 2000 bits.
        const bool lostOfFew = few.IsLost(FrameAt(second * SECOND, 250));
        const bool lostOfMany = many.IsLost(FrameAt(second * SECOND, 250));
        for (int n = 1; n < 10; ++n)
        {
            many.IsLost(FrameAt(second * SECOND + n * SECOND / 10, 250));
        }
        differ += lostOfFew != lostOfMany;
        lost += lostOfFew;
    }
    EXPECT_GT(lost, 1500);
    // Losses of good times are drawn by frame: 0.2 % of the frames of each.
    EXPECT_LT(differ, 20'000 * 2 * 0.002 * 1.5);
}

TEST(TwoState, NewMeansHoldFromNowOnAndTheStateStays)
{
    auto channel = Channel(1, 11);
    channel.Begin(0);
    channel.Set(Parameters(GOOD, 1e4, 0), 1000 * SECOND);
    int lost = 0;
    for (std::int64_t second = 2000; second < 3000; ++second)
    {
        lost += channel.IsLost(FrameAt(second * SECOND, 250));
    }
    EXPECT_GT(lost, 950);
}
