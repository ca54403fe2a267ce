// SPDX-License-Identifier: GPL-2.0-or-later
#include "frame_layout.h"
#include "link_budget.h"
#include "numerology.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

namespace netboxit::wimax
{

TEST(Numerology, TenMegahertzAsWorkedOutByHand)
{
    const auto numerology = MakeNumerology(10e6, 0.25);
    EXPECT_DOUBLE_EQ(numerology.samplingFrequencyHz, 11.52e6); // 144/125 * 10 MHz = 1440 * 8 kHz
    EXPECT_DOUBLE_EQ(numerology.subcarrierSpacingHz, 45e3);
    EXPECT_NEAR(numerology.symbolS, 27.7778e-6, 1e-10); // 1/45 kHz * 5/4
    EXPECT_DOUBLE_EQ(numerology.OccupiedBandwidthHz(), 9e6);
    EXPECT_NEAR(numerology.physicalSlotS, 347.22e-9, 1e-11);
}

TEST(Numerology, SamplingFactorOfEachBandwidthFamily)
{
    const struct
    {
        double bandwidthHz;
        double samplingHz;
    } cases[] = {{1.25e6, 1.44e6},  // 144/125
                 {1.75e6, 2.0e6},   // 8/7
                 {3.5e6, 4.0e6},    // 8/7
                 {7e6, 8.0e6},      // 8/7
                 {1.5e6, 1.72e6},   // 86/75
                 {6e6, 6.88e6},     // 86/75
                 {5.5e6, 6.32e6},   // 316/275
                 {4e6, 4.56e6},     // 57/50
                 {5e6, 5.76e6},     // 144/125
                 {2.3e6, 2.624e6}}; // 8/7 of anything else: floor(328.57) * 8 kHz
    for (const auto& [bandwidthHz, samplingHz] : cases)
    {
        EXPECT_DOUBLE_EQ(MakeNumerology(bandwidthHz, 0.25).samplingFrequencyHz, samplingHz) << bandwidthHz;
    }
}

TEST(Numerology, RefusesWhatTheStandardDoesNotKnow)
{
    EXPECT_THROW(MakeNumerology(1e6, 0.25), std::invalid_argument);
    EXPECT_THROW(MakeNumerology(10e6, 0.2), std::invalid_argument);
}

TEST(FrameLayout, SymbolsOfTenMilliseconds)
{
    const FrameLayout layout(MakeNumerology(10e6, 0.25), {10e-3, 0.5, 100e-6, 50e-6, 4, 10}, 1);
    // (10 ms - 100 us - 50 us) / 27.78 us = 354.6
    EXPECT_EQ(layout.DownlinkSymbols(), 177U);
    EXPECT_EQ(layout.UplinkSymbols(), 177U);
    // Preamble 2, FCH 1; DL-MAP 18 + 2 * 4 and UL-MAP 17 + 3 * 6 bytes and a tail byte: 62 bytes, 6 symbols
    // of 12.
    EXPECT_EQ(layout.DownlinkOverhead(1, 1, false), 9U);
    EXPECT_EQ(layout.UplinkOverhead(false), 8U);
    // Long preamble 2, RNG-REQ of 26 bytes and tail 3, TTG's 100 us 4 symbols.
    EXPECT_EQ(layout.RangingSymbols(), 9U);
    EXPECT_TRUE(layout.HasRanging(20));
    EXPECT_FALSE(layout.HasRanging(21));
}

TEST(FrameLayout, RefusesAFrameWithoutRoomForData)
{
    EXPECT_THROW(FrameLayout(MakeNumerology(1.25e6, 0.25), {2.5e-3, 0.5, 100e-6, 50e-6, 4, 10}, 1),
                 std::invalid_argument);
}

TEST(LinkBudget, FreeSpaceAndThermalNoise)
{
    const LinkBudget budget({5e9, 5.0, 0.0, "friis", 0.0, 30.0, 2.0}, MakeNumerology(10e6, 0.25));
    // 20 log10(4 pi d f / c)
    EXPECT_NEAR(budget.PathLossDb(2500.0), 114.4, 0.05);
    EXPECT_NEAR(budget.PathLossDb(7500.0), 123.9, 0.05);
    // -174 + 10 log10(9 MHz) + 5 = -99.46 dBm
    EXPECT_NEAR(budget.SnrDb(30.0, 0.0, 2500.0), 30.0 - 114.4 + 99.46, 0.1);
}

TEST(LinkBudget, LogDistanceLeavesFreeSpaceAtOneMetre)
{
    const LinkBudget budget({5e9, 5.0, 0.0, "log-distance", 3.0, 30.0, 2.0}, MakeNumerology(10e6, 0.25));
    const double atOneMetre = 20.0 * std::log10(4.0 * M_PI * 5e9 / SPEED_OF_LIGHT);
    EXPECT_NEAR(budget.PathLossDb(1000.0), atOneMetre + 90.0, 0.01);
}

TEST(LinkBudget, GroundReflectionTakesOverWhereBothLossesAreEqual)
{
    const LinkBudget budget({3.5e9, 5.0, 0.0, "two-ray", 0.0, 30.0, 2.0}, MakeNumerology(10e6, 0.25));
    const double crossover = 4.0 * M_PI * 60.0 * 3.5e9 / SPEED_OF_LIGHT; // 8.8 km
    EXPECT_NEAR(budget.PathLossDb(crossover * 0.999), budget.PathLossDb(crossover * 1.001), 0.05);
    EXPECT_NEAR(budget.PathLossDb(1000.0), 20.0 * std::log10(4.0 * M_PI * 1000.0 * 3.5e9 / SPEED_OF_LIGHT), 0.01);
    EXPECT_NEAR(budget.PathLossDb(20000.0), 40.0 * std::log10(20000.0) - 20.0 * std::log10(60.0), 1e-9);
}

TEST(LinkBudget, SuburbanLossAsInItsPaper)
{
    // Terrain B, 30 m, 2 m, 2 GHz: exponent 4 - 0.0065 * 30 + 17.1 / 30 = 4.375, free space 78.47 dB at 100 m.
    const LinkBudget budget({2e9, 5.0, 0.0, "sui-b", 0.0, 30.0, 2.0}, MakeNumerology(10e6, 0.25));
    EXPECT_NEAR(budget.PathLossDb(1000.0), 78.46 + 43.75, 0.05);
    // Higher antennas and lower terrain lose less; higher frequencies 6 dB a decade more beside free space's 20.
    const LinkBudget high({2e9, 5.0, 0.0, "sui-b", 0.0, 30.0, 10.0}, MakeNumerology(10e6, 0.25));
    EXPECT_NEAR(budget.PathLossDb(1000.0) - high.PathLossDb(1000.0), 10.8 * std::log10(5.0), 1e-9);
    const LinkBudget flat({2e9, 5.0, 0.0, "sui-c", 0.0, 30.0, 2.0}, MakeNumerology(10e6, 0.25));
    EXPECT_LT(flat.PathLossDb(1000.0), budget.PathLossDb(1000.0));
    const LinkBudget above({5e9, 5.0, 0.0, "sui-b", 0.0, 30.0, 2.0}, MakeNumerology(10e6, 0.25));
    EXPECT_NEAR(above.PathLossDb(1000.0) - budget.PathLossDb(1000.0), 26.0 * std::log10(2.5), 1e-6);
}

} // namespace netboxit::wimax
