// SPDX-License-Identifier: GPL-2.0-or-later
#include "service_rate.h"

#include <gtest/gtest.h>

using netboxit::ServiceRate;

namespace
{

constexpr std::int64_t MS = 1'000'000;

} // namespace

TEST(AServiceRate, IsWhatABearerGetsWhileItHasMoreToSend)
{
    ServiceRate rate(5e6);
    EXPECT_EQ(rate.Rate(), 5e6);
    std::int64_t now = 0;
    for (int i = 0; i <= 200; ++i, now += 2 * MS)
    {
        rate.Serves(500, now);
        rate.Leaves(1000);
    }
    EXPECT_NEAR(rate.Rate(), 2e6, 1e3);
    // A time in which it has nothing to send does not count.
    rate.Leaves(0);
    rate.Serves(10, now + 1000 * MS);
    EXPECT_NEAR(rate.Rate(), 2e6, 1e3);
}

TEST(AServiceRate, FollowsWithinATenthOfASecond)
{
    ServiceRate rate(5e6);
    for (std::int64_t now = 0; now < 800 * MS; now += MS)
    {
        rate.Serves(now < 400 * MS ? 1000 : 250, now);
        rate.Leaves(1);
    }
    EXPECT_NEAR(rate.Rate(), 2e6, 0.2e6);
}
