// SPDX-License-Identifier: GPL-2.0-or-later
#include "block_error.h"
#include "burst_profile.h"

#include <gtest/gtest.h>

namespace netboxit::wimax
{

namespace
{

/// Table 266 of 2004.
constexpr SnrThresholds THRESHOLDS{6.4, 9.4, 11.2, 16.4, 18.2, 22.7, 24.4};

/// Reed-Solomon codes of the profiles (Table 215 of 2004): bytes of a block, and how many wrong ones are corrected.
struct OuterCode
{
    int length;
    int corrects;
};
constexpr std::array<OuterCode, PROFILES.size()> OUTER_CODES{{{12, 0}, {32, 4}, {40, 2}, {64, 8}, {80, 4}, {108, 6}, {120, 6}}};

} // namespace

TEST(BurstProfile, UncodedBlocksFollowFromModulationAndCodeRate)
{
    // 192 subcarriers * bits a subcarrier * overall code rate / 8
    const double bits[] = {
        1 * 1 / 2., 2 * 1 / 2., 2 * 3 / 4., 4 * 1 / 2., 4 * 3 / 4., 6 * 2 / 3., 6 * 3 / 4.};
    for (ProfileId id = 0; id < PROFILES.size(); ++id)
    {
        EXPECT_DOUBLE_EQ(PROFILES[id].bytesPerSymbol, 192 * bits[id] / 8) << PROFILES[id].name;
    }
}

TEST(BurstProfile, TailByteCountsOnceABurst)
{
    EXPECT_EQ(BurstBytes(2, 10), 359U);
    EXPECT_EQ(BurstSymbols(2, 359), 10U);
    EXPECT_EQ(BurstSymbols(2, 360), 11U);
    EXPECT_EQ(BurstSymbols(2, 0), 0U);
}

TEST(ReceiverSnr, ChoosesTheMostEfficientProfileThatIsReceived)
{
    const ReceiverSnr snr(THRESHOLDS);
    EXPECT_EQ(snr.Choose(14.6, {}, 1.0), 2U); // QPSK 3/4
    EXPECT_EQ(snr.Choose(6.4, {}, 1.0), 0U);
    EXPECT_EQ(snr.Choose(6.3, {}, 1.0), std::nullopt);
    EXPECT_EQ(snr.Choose(40.0, {}, 1.0), 6U);
}

TEST(ReceiverSnr, HysteresisDelaysTheWayUpOnly)
{
    const ReceiverSnr snr(THRESHOLDS);
    EXPECT_EQ(snr.Choose(16.9, 2, 1.0), 2U); // 16-QAM 1/2 begins at 16.4, plus 1
    EXPECT_EQ(snr.Choose(17.4, 2, 1.0), 3U);
    EXPECT_EQ(snr.Choose(16.9, 3, 1.0), 3U);
    EXPECT_EQ(snr.Choose(16.3, 3, 1.0), 2U);
    EXPECT_EQ(snr.Choose(30.0, 0, 1.0), 6U);
}

TEST(ReceiverSnr, FixedProfileIsUsedWheneverTheMostRobustOneIsReceived)
{
    const ReceiverSnr snr(THRESHOLDS, 4);
    EXPECT_EQ(snr.Choose(6.4, {}, 1.0), 4U);
    EXPECT_EQ(snr.Choose(40.0, 4, 1.0), 4U);
    EXPECT_EQ(snr.Choose(6.3, 4, 1.0), std::nullopt);
}

TEST(BlockError, AnchoredAtTheStandardsBitErrorRatio)
{
    for (ProfileId id = 0; id < PROFILES.size(); ++id)
    {
        // With one wrong bit in a million, a lost block has at least as many as its code does not repair, and
        // hardly a tenth of all: simulated, 3 of BPSK 1/2's to 40 of 64-QAM's.
        const double bits = 8.0 * OUTER_CODES[id].length;
        EXPECT_LE(BlockErrorRate(id, 0.0), 1e-6 * bits / (OUTER_CODES[id].corrects + 1)) << PROFILES[id].name;
        EXPECT_GE(BlockErrorRate(id, 0.0), 1e-6 * bits / 50.0) << PROFILES[id].name;
    }
}

TEST(BlockError, FallsWithMarginAndSaturatesBelowIt)
{
    for (ProfileId id = 0; id < PROFILES.size(); ++id)
    {
        double before = 1.0;
        for (double margin = -12.0; margin <= 6.0; margin += 0.25)
        {
            const double now = BlockErrorRate(id, margin);
            EXPECT_LE(now, before + 1e-12) << PROFILES[id].name << " at " << margin;
            before = now;
        }
        EXPECT_GT(BlockErrorRate(id, -7.0), 0.98) << PROFILES[id].name;
        EXPECT_LT(BlockErrorRate(id, 1.0), 2e-6) << PROFILES[id].name;
    }
}

TEST(BlockError, PduIsLostWithAnyOfItsBlocks)
{
    EXPECT_DOUBLE_EQ(PduErrorRate(0.5, 3), 0.875);
    EXPECT_DOUBLE_EQ(PduErrorRate(1.0, 1), 1.0);
    EXPECT_DOUBLE_EQ(PduErrorRate(0.0, 9), 0.0);
}

} // namespace netboxit::wimax
