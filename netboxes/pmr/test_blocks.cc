// SPDX-License-Identifier: GPL-2.0-or-later
#include "block_error.h"
#include "blocks.h"
#include "frame_structure.h"
#include "propagation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace netboxit
{

TEST(FrameStructure, FillsSlotsOfSeventeenFramesInEighteen)
{
    const SlotRange slots{1, 1};
    std::vector<std::int64_t> frames;
    const auto end = slots.Fill(0, 36, [&](std::int64_t frame, std::uint32_t blocks) { frames.insert(frames.end(), blocks, frame); });
    EXPECT_EQ(frames.size(), 36U);
    EXPECT_EQ(frames.front(), 0);
    EXPECT_EQ(frames[17], 18);
    EXPECT_EQ(frames.back(), 37);
    EXPECT_EQ(end, tdma::SlotStart(37, 2));
}

TEST(FrameStructure, BeginsWithAWholeFrame)
{
    const SlotRange slots{0, 3};
    std::vector<std::uint32_t> perFrame;
    slots.Fill(1, 5, [&](std::int64_t, std::uint32_t blocks) { perFrame.push_back(blocks); });
    EXPECT_EQ(perFrame, std::vector<std::uint32_t>({3, 2}));
    EXPECT_EQ(slots.Fill(1, 1, [](std::int64_t frame, std::uint32_t) { EXPECT_EQ(frame, 1); }), tdma::SlotStart(1, 1));
    EXPECT_EQ(tdma::NextOpportunity(1), 1);
    EXPECT_EQ(tdma::NextOpportunity(tdma::SlotStart(0, 1)), 2);
}

TEST(Blocks, HoldThePacketAndItsHeaders)
{
    const auto none = BlockFormat::Of("none");
    // 8 * 1500 + 48 bits: 378 in the first block, 411 in each of 29 others.
    EXPECT_EQ(BlocksOf(1500, none), 30U);
    EXPECT_EQ(BlocksOf(41, none), 1U);
    EXPECT_EQ(BlocksOf(42, none), 2U);
    EXPECT_DOUBLE_EQ(none.bits * 17 / 18.0 / (4 * 85e-3 / 6), 7200.0);
}

TEST(BlockError, MeetsTheSensitivityAndKnownPoints)
{
    EXPECT_NEAR(FadedDqpskBitError(std::pow(10.0, SNR_AT_SENSITIVITY / 10.0)), 0.022, 1e-5);
    // The fade's mean of the white-noise formula is the closed form.
    double mean = 0.0;
    constexpr int STEPS = 20000;
    for (int i = 0; i < STEPS; ++i)
    {
        mean += DqpskBitError(-44.0 * std::log((i + 0.5) / STEPS)) / STEPS;
    }
    EXPECT_NEAR(mean, FadedDqpskBitError(44.0), 1e-4);
    EXPECT_EQ(DqpskBitError(0.0), 0.5);
    EXPECT_EQ(BlockError(1e4, 432, 0.0), 0.0);
    EXPECT_LT(BlockError(20.0, 144, 7.0), BlockError(20.0, 432, 0.0));
}

TEST(Propagation, IsHatasFormula)
{
    nlohmann::json said{{"propagation", "hata"},   {"environment", "urban"},   {"frequency", 900e6},
                        {"path_loss_exponent", 3}, {"base_height", 30.0}, {"terminal_height", 1.5}};
    // The well-known 126.4 dB at 1 km.
    EXPECT_NEAR(Propagation(said).Loss(1e3), 126.4, 0.1);
    said["environment"] = "open";
    EXPECT_LT(Propagation(said).Loss(1e3), 100.0);
    said["propagation"] = "friis";
    EXPECT_NEAR(Propagation(said).Loss(1e3), 91.5, 0.1);
}

} // namespace netboxit
