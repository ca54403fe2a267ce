// SPDX-License-Identifier: GPL-2.0-or-later
#include "periods.h"

#include <gtest/gtest.h>

using namespace netboxit::middleware;

namespace
{

// What README calculates with: bytes of a refresh and a grant, and of an announcement, each with 66 bytes of headers.
constexpr Rate EXCHANGE = (48 + 66 + 88 + 66) * 8;
constexpr Rate ANNOUNCEMENT = (76 + 66) * 8;

double RefreshLoad(std::uint32_t members, const Periods& periods)
{
    return static_cast<double>(EXCHANGE) * members / (static_cast<double>(periods.refresh) / SECOND);
}

} // namespace

TEST(Periods, HaveAThousandMembersTakeLessThanOnePercentOfTwoMegabits)
{
    const auto periods = PeriodsFor(1000, 2'000'000);
    EXPECT_EQ(periods.refresh, 256 * SECOND);
    EXPECT_EQ(periods.lease, 1024 * SECOND);
    EXPECT_EQ(periods.announce, 4 * SECOND);
    const auto load = RefreshLoad(1000, periods) + ANNOUNCEMENT / 4.0;
    EXPECT_NEAR(load, 8375 + 284, 1);
    EXPECT_LT(load, 20'000);
}

TEST(Periods, AreShortForFewMembers)
{
    const auto periods = PeriodsFor(10, 20'000'000);
    EXPECT_EQ(periods.refresh, 4 * SECOND);
    EXPECT_EQ(periods.lease, 16 * SECOND);
}

TEST(Periods, KeepTheirPartOfTheLink)
{
    for (const auto capacity : {9'600, 100'000, 2'000'000, 1'000'000'000})
    {
        for (std::uint32_t members = 0; members <= 65'536; members = members * 2 + 1)
        {
            const auto periods = PeriodsFor(members, capacity);
            ASSERT_EQ(periods.lease, 4 * periods.refresh);
            ASSERT_TRUE(periods.refresh == LONGEST_PERIOD || RefreshLoad(members, periods) <= capacity / 200.0);
        }
    }
    EXPECT_EQ(PeriodsFor(65'536, 1).refresh, LONGEST_PERIOD);
    EXPECT_EQ(PeriodsFor(65'536, 0).announce, LONGEST_PERIOD);
    EXPECT_EQ(PeriodsFor(65'536, MOST_RATE).refresh, 4 * SECOND);
    EXPECT_LT(PeriodsFor(65'536, 0).lease / MILLISECOND, INT64_C(1) << 32);
}

/// A host without multicast sends an announcement of 1,136 bits to each of 1,000 members: 0.1 % of 2 Mbit/s are 568 s.
TEST(Periods, CountTheCopiesOfAnAnnouncement)
{
    EXPECT_EQ(PeriodsFor(1000, 2'000'000, 1000).announce, 1024 * SECOND);
    EXPECT_EQ(PeriodsFor(10, 2'000'000, 10).announce, 8 * SECOND);
    EXPECT_EQ(SpacingFor(2'000'000, 10), 10 * SpacingFor(2'000'000));
    EXPECT_EQ(SpacingFor(2'000'000, 1000), SECOND);
}

TEST(Periods, SpreadMembersThatReturnOverATwentiethOfTheLink)
{
    // 536 bytes each; a share of 2 kbit/s is that of 1,000 members on 2 Mbit/s.
    EXPECT_NEAR(static_cast<double>(SpreadFor(2000)) / SECOND, 536 * 8 * 20 / 2000.0, 1e-6);
    EXPECT_EQ(SpreadFor(0), 60 * SECOND);
    EXPECT_LT(SpreadFor(MOST_RATE), MILLISECOND);
}

TEST(Periods, KeepAnnouncementsOfChangesApart)
{
    EXPECT_EQ(SpacingFor(MOST_RATE), 10 * MILLISECOND);
    EXPECT_NEAR(static_cast<double>(SpacingFor(2'000'000)), ANNOUNCEMENT / 20'000.0 * SECOND, 1e3);
    EXPECT_EQ(SpacingFor(0), SECOND);
    EXPECT_EQ(SpacingFor(1), SECOND);
}
