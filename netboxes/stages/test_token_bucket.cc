// SPDX-License-Identifier: GPL-2.0-or-later
#include "token_bucket.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

using namespace netboxit::stages;

namespace
{

constexpr std::int64_t SECOND = 1'000'000'000;

/// The most that passed in any interval beyond what the rate has time for, bytes.
class Excess
{
  public:
    explicit Excess(double rate) : m_rate(rate)
    {
    }

    void Passed(double bytes, std::int64_t now)
    {
        // Of the intervals that end now, the worst one begins where `sum - rate·time` was smallest.
        const double time = static_cast<double>(now) / 1e9 * m_rate;
        m_smallest = std::min(m_smallest, m_sum - time);
        m_sum += bytes;
        m_largest = std::max(m_largest, m_sum - time - m_smallest);
    }

    double Largest() const
    {
        return m_largest;
    }

  private:
    double m_rate;
    double m_sum{};
    double m_smallest{1e300};
    double m_largest{};
};

} // namespace

TEST(TokenBucketTest, NoIntervalHasMoreThanRateAndBurst)
{
    std::mt19937 random(1);
    for (const auto& [rate, burst] : {Profile{125'000, 1500}, {1.25e6, 30'000}, {333.3, 9000}, {1.25e10, 1e6}})
    {
        TokenBucket bucket;
        Excess excess(rate);
        std::int64_t now = 5;
        for (int packet = 0; packet < 50'000; ++packet)
        {
            // On average twice as many as the rate has time for, at times after a silence.
            const auto bytes = 20 + random() % 1481;
            const auto mean = 375 / rate * 1e9;
            now += static_cast<std::int64_t>(std::exponential_distribution{1 / mean}(random)) * (random() % 1000 == 0 ? 1000 : 1);
            if (bucket.Takes(static_cast<std::uint32_t>(bytes), {rate, burst}, now))
            {
                excess.Passed(static_cast<double>(bytes), now);
            }
        }
        EXPECT_LE(excess.Largest(), burst + 0.01) << rate;
        EXPECT_GT(excess.Largest(), burst - 1500) << rate;
    }
}

TEST(TokenBucketTest, ASourceAtTheRateLosesNothing)
{
    for (const double rate : {125'000.0, 1.25e6 / 3, 1e9 / 7})
    {
        TokenBucket bucket;
        for (int packet = 0; packet < 100'000; ++packet)
        {
            const auto now = static_cast<std::int64_t>(std::ceil(packet * 1500 / rate * 1e9));
            ASSERT_TRUE(bucket.Takes(1500, {rate, 1500}, now)) << rate << ' ' << packet;
        }
    }
}

TEST(TokenBucketTest, ASourceOfWholeBurstsLosesNothing)
{
    const Profile profile{1.25e6 / 3, 15'000};
    TokenBucket bucket;
    for (int burst = 0; burst < 10'000; ++burst)
    {
        const auto now = static_cast<std::int64_t>(std::ceil(burst * profile.burst / profile.rate * 1e9));
        for (int packet = 0; packet < 10; ++packet)
        {
            ASSERT_TRUE(bucket.Takes(1500, profile, now)) << burst;
        }
        ASSERT_FALSE(bucket.Takes(1500, profile, now));
    }
}

TEST(TokenBucketTest, APacketLongerThanTheBurstNeverPasses)
{
    TokenBucket bucket;
    EXPECT_FALSE(bucket.Takes(1501, {1e6, 1500}, 1000 * SECOND));
    EXPECT_TRUE(bucket.Takes(1500, {1e6, 1500}, 1000 * SECOND));
}
