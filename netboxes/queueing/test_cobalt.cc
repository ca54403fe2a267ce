// SPDX-License-Identifier: GPL-2.0-or-later
#include "cobalt.h"

#include <gtest/gtest.h>

using namespace netboxit::queueing;

namespace
{

constexpr std::int64_t MS = 1'000'000;
constexpr std::int64_t TARGET = 5 * MS;
constexpr std::int64_t INTERVAL = 100 * MS;

class CobaltTest : public testing::Test
{
  protected:
    /// A packet has waited for so long when its turn comes.
    CobaltLaw::Verdict Judge(std::int64_t now, std::int64_t waited, std::int64_t least = 0)
    {
        return law.Judge(
            {.entered = now - waited}, now, least, [this](const Waiting&) { return isCapable; }, [this] { return chance; });
    }

    bool isCapable{false};
    double chance{0.999};
    CobaltLaw law{TARGET, INTERVAL};
};

} // namespace

TEST_F(CobaltTest, SignalsAsOftenAsCodelWhilePacketsAreLate)
{
    // The first one an interval after the first packet that was late, then at distances interval/sqrt(n).
    std::vector<std::int64_t> drops;
    for (std::int64_t now = 0; now < 1000 * MS; now += MS)
    {
        if (Judge(now, 20 * MS) == CobaltLaw::Verdict::DroppedByCodel)
        {
            drops.push_back(now);
        }
    }
    ASSERT_GT(drops.size(), 10u);
    EXPECT_EQ(drops[0], INTERVAL);
    double at = static_cast<double>(INTERVAL);
    for (std::size_t drop = 1; drop < drops.size(); ++drop)
    {
        at += static_cast<double>(INTERVAL) / std::sqrt(drop + 1.0);
        EXPECT_NEAR(static_cast<double>(drops[drop]), at, MS) << drop; // a packet goes each millisecond
    }
}

TEST_F(CobaltTest, BecomesAsSlowlyGentleAsItBecameStrict)
{
    // 1 s of late packets have count n. After the same time of packets in time it begins anew; after half of it, in the midst.
    const auto firstDrop = [](std::int64_t pause)
    {
        CobaltLaw law(TARGET, INTERVAL);
        const auto judge = [&law](std::int64_t now, std::int64_t waited)
        { return law.Judge({.entered = now - waited}, now, 0, [](const Waiting&) { return false; }, [] { return 0.999; }); };
        std::int64_t now = 0;
        for (; now < 1000 * MS; now += MS / 4)
        {
            judge(now, 20 * MS);
        }
        for (const auto end = now + pause; now < end; now += MS / 4)
        {
            judge(now, 0);
        }
        const auto again = now;
        while (judge(now, 20 * MS) == CobaltLaw::Verdict::Goes)
        {
            now += MS / 4;
        }
        return now - again;
    };
    EXPECT_EQ(firstDrop(1500 * MS), INTERVAL);
    EXPECT_LT(firstDrop(500 * MS), INTERVAL / 2);
    EXPECT_GT(firstDrop(500 * MS), firstDrop(0));
}

TEST_F(CobaltTest, MarksWhatIsCapableOfEcnAndNeverForBlue)
{
    isCapable = true;
    for (std::int64_t now = 0; now < 1000 * MS; now += MS)
    {
        EXPECT_EQ(Judge(now, 20 * MS), CobaltLaw::Verdict::Goes);
    }
    law.Overflows(1000 * MS);
    chance = 0;
    EXPECT_EQ(Judge(1000 * MS, 0), CobaltLaw::Verdict::DroppedByBlue);
}

TEST_F(CobaltTest, BlueRisesWithOverflowsAndFallsWhenTheFlowIsEmptyOnceInATarget)
{
    std::int64_t now = 1000 * MS;
    for (int overflow = 0; overflow < 10; ++overflow, now += MS) // within two targets
    {
        law.Overflows(now);
    }
    EXPECT_DOUBLE_EQ(law.Probability(), 2.0 / 256);
    // Packets that wait shortly, or for long, leave it as it is.
    for (int packet = 0; packet < 1000; ++packet, now += MS)
    {
        Judge(now, packet % 2 * 20 * MS);
    }
    EXPECT_DOUBLE_EQ(law.Probability(), 2.0 / 256);
    for (int empty = 0; empty < 12; ++empty, now += MS) // two targets
    {
        law.IsEmpty(now);
    }
    EXPECT_DOUBLE_EQ(law.Probability(), 2.0 / 256 - 2.0 / 4096);
    for (int empty = 0; empty < 30; ++empty, now += 6 * MS)
    {
        EXPECT_TRUE(law.Remembers(now));
        law.IsEmpty(now);
    }
    EXPECT_DOUBLE_EQ(law.Probability(), 0);
    for (int overflow = 0; overflow < 300; ++overflow, now += 6 * MS)
    {
        law.Overflows(now);
    }
    EXPECT_DOUBLE_EQ(law.Probability(), 1);
}

TEST_F(CobaltTest, NoPacketIsLateBeforeAFewTookTheirTime)
{
    for (std::int64_t now = 0; now < 1000 * MS; now += MS)
    {
        EXPECT_EQ(Judge(now, 20 * MS, 20 * MS), CobaltLaw::Verdict::Goes);
    }
}
