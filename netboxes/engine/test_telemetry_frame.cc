// SPDX-License-Identifier: GPL-2.0-or-later
#include "telemetry_frame.h"

#include <gtest/gtest.h>

namespace netboxit
{

TEST(TelemetryFrame, SaysWhatItWasToldInItemsOfDlep)
{
    const LinkState state{.transmit = 2'000'000, .receive = 10'000'000, .latency = 300'000'000};
    const auto frame = TelemetryFrame(state);
    EXPECT_EQ(frame.size(), 60U);
    // Written by hand from README.md and RFC 8175, 13.14 to 13.16.
    const std::vector<std::uint8_t> expected{0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e, 0x02, 0x4e, 0x42, 0x00, 0x00, 0x01, 0x88, 0xb5,
                                             0x4e, 0x42, 0x01, 0x03, 0x00, 14,   0x00, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x98,
                                             0x96, 0x80, 0x00, 15,   0x00, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x1e, 0x84, 0x80,
                                             0x00, 16,   0x00, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x04, 0x93, 0xe0};
    EXPECT_EQ(std::vector(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(expected.size())), expected);
    EXPECT_EQ(ReadTelemetryFrame(frame), state);
}

TEST(TelemetryFrame, ItemsThatNobodyKnowsAreSkipped)
{
    auto frame = TelemetryFrame({.transmit = 5, .receive = 6, .latency = 7000});
    frame[17] = 4;
    const std::vector<std::uint8_t> more{0x00, 18, 0x00, 0x01, 100};
    frame.insert(frame.begin() + 18, more.begin(), more.end());
    EXPECT_EQ(ReadTelemetryFrame(frame), (LinkState{.transmit = 5, .receive = 6, .latency = 7000}));
}

TEST(TelemetryFrame, DamagedOnesSayNothing)
{
    const auto frame = TelemetryFrame({.transmit = 1, .receive = 2, .latency = 3000});
    for (std::size_t length = 0; length < 54; ++length)
    {
        EXPECT_FALSE(ReadTelemetryFrame(Bytes(frame).first(length))) << length;
    }
    for (const std::size_t at : {12U, 13U, 14U, 15U, 16U})
    {
        auto other = frame;
        other[at] ^= 0x10;
        EXPECT_FALSE(ReadTelemetryFrame(other)) << at;
    }
}

} // namespace netboxit
