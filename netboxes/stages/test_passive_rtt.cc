// SPDX-License-Identifier: GPL-2.0-or-later
#include "passive_rtt.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>

using namespace netboxit::stages;

namespace
{

constexpr std::int64_t MS = 1'000'000;
constexpr std::int64_t SECOND = 1000 * MS;
constexpr std::int64_t WINDOW = 10 * SECOND;

} // namespace

TEST(PassiveRttTest, TheHandshakeGivesTheFirstSample)
{
    PassiveRtt rtt;
    EXPECT_FALSE(rtt.Minimum());
    rtt.Sent(1000, 1001, 5 * MS);
    EXPECT_FALSE(rtt.Minimum());
    rtt.Acknowledged(1001, 105 * MS, WINDOW);
    EXPECT_EQ(rtt.Minimum(), 100 * MS);
}

TEST(PassiveRttTest, AnAckOfSeveralSegmentsMeasuresTheLastOne)
{
    PassiveRtt rtt;
    rtt.Sent(0, 100, 0);
    rtt.Sent(100, 200, 40 * MS);
    rtt.Sent(200, 300, 80 * MS);
    rtt.Acknowledged(250, 140 * MS, WINDOW);
    EXPECT_EQ(rtt.Minimum(), 100 * MS);
    EXPECT_EQ(rtt.Traced(), 1u);
}

TEST(PassiveRttTest, SegmentsSentTwiceGiveNoSample)
{
    PassiveRtt rtt;
    rtt.Sent(0, 100, 0);
    rtt.Sent(0, 100, 300 * MS); // its ACK may belong to either
    rtt.Acknowledged(100, 310 * MS, WINDOW);
    EXPECT_FALSE(rtt.Minimum());
    rtt.Sent(100, 200, 400 * MS);
    rtt.Acknowledged(200, 500 * MS, WINDOW);
    EXPECT_EQ(rtt.Minimum(), 100 * MS);
}

TEST(PassiveRttTest, AnAckOfWhatWasNeverSentGivesNoSample)
{
    PassiveRtt rtt;
    rtt.Acknowledged(7, 0, WINDOW);
    rtt.Sent(0, 100, 0);
    rtt.Acknowledged(101, MS, WINDOW);
    rtt.Acknowledged(0x7fffffff, MS, WINDOW);
    EXPECT_FALSE(rtt.Minimum());
    rtt.Acknowledged(100, 20 * MS, WINDOW);
    EXPECT_EQ(rtt.Minimum(), 20 * MS);
}

TEST(PassiveRttTest, MeasuresAcrossTheEndOfSequenceNumbers)
{
    PassiveRtt rtt;
    std::uint32_t sequence = 0xffffff00;
    for (std::int64_t now = 0; now < 100 * MS; now += 10 * MS)
    {
        rtt.Sent(sequence, sequence + 100, now);
        rtt.Acknowledged(sequence + 100, now + 7 * MS, WINDOW);
        sequence += 100;
        EXPECT_EQ(rtt.Traced(), 0u);
    }
    EXPECT_EQ(rtt.Minimum(), 7 * MS);
}

TEST(PassiveRttTest, TracesABoundedNumberOfSegments)
{
    PassiveRtt rtt;
    for (std::uint32_t segment = 0; segment < 1000; ++segment)
    {
        rtt.Sent(segment * 100, segment * 100 + 100, segment * MS);
    }
    EXPECT_EQ(rtt.Traced(), PassiveRtt::LONGEST_LIST);
    rtt.Acknowledged(100'000, 1100 * MS, WINDOW);
    EXPECT_EQ(rtt.Minimum(), 1100 * MS - static_cast<std::int64_t>(PassiveRtt::LONGEST_LIST - 1) * MS);
    EXPECT_EQ(rtt.Traced(), 0u);
}

TEST(PassiveRttTest, ForgetsSegmentsOlderThanTheLargestRtt)
{
    PassiveRtt rtt;
    rtt.Sent(0, 100, 0);
    rtt.Acknowledged(100, PassiveRtt::LARGEST + 1, WINDOW);
    EXPECT_FALSE(rtt.Minimum());
    EXPECT_EQ(rtt.Traced(), 0u);
}

TEST(PassiveRttTest, FollowsALongerPathAfterTheWindowButNotForLife)
{
    for (const auto window : {std::optional(WINDOW), std::optional<std::int64_t>()})
    {
        PassiveRtt rtt;
        std::uint32_t sequence = 0;
        const auto measure = [&](std::int64_t from, std::int64_t to, std::int64_t time)
        {
            for (auto now = from; now < to; now += 700 * MS)
            {
                rtt.Sent(sequence, sequence + 1, now);
                rtt.Acknowledged(sequence += 1, now + time, window);
            }
        };
        measure(0, 20 * SECOND, 100 * MS);
        measure(20 * SECOND, 29 * SECOND, 600 * MS);
        EXPECT_EQ(rtt.Minimum(), 100 * MS);
        measure(29 * SECOND, 45 * SECOND, 600 * MS);
        EXPECT_EQ(rtt.Minimum(), window ? 600 * MS : 100 * MS);
    }
}

TEST(WindowedMinimumTest, LiesBetweenTheWindowsMinimumAndThatOfItsLastQuarters)
{
    // Nichols' filter may forget a value early, for one that came later. It keeps none beyond the window and forgets none of the
    // newest quarter.
    std::mt19937 random(3);
    WindowedMinimum minimum;
    std::deque<std::pair<std::int64_t, std::int64_t>> all;
    for (std::int64_t now = 0; now < 2000 * SECOND; now += 100 * MS)
    {
        const auto value = static_cast<std::int64_t>(random() % 1000 + 1);
        minimum.Add(value, now, WINDOW);
        all.emplace_back(now, value);
        while (now - all.front().first > WINDOW)
        {
            all.pop_front();
        }
        std::int64_t exact = value;
        std::int64_t newest = value;
        for (const auto& [at, sample] : all)
        {
            exact = std::min(exact, sample);
            newest = now - at <= WINDOW / 4 ? std::min(newest, sample) : newest;
        }
        ASSERT_GE(*minimum.Value(), exact) << now;
        ASSERT_LE(*minimum.Value(), newest) << now;
    }
}
