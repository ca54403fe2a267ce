// SPDX-License-Identifier: GPL-2.0-or-later
#include "receiver_channels.h"

#include "block_error.h"

#include <gtest/gtest.h>

#include <cmath>

namespace netboxit::wimax
{

namespace
{

/// Table 266 of 2004.
constexpr SnrThresholds THRESHOLDS{6.4, 9.4, 11.2, 16.4, 18.2, 22.7, 24.4};

} // namespace

TEST(ReceiverChannels, ALargestSduNeedsAllOfItsBlocks)
{
    const std::vector<std::string> names{"bs", "near", "far"};
    const ReceiverSnr receiver(THRESHOLDS, ProfileId{2});
    Link near;
    Link far;
    ReceiverChannels channels(names);
    channels.Add(1, near);
    channels.Add(2, far);
    EXPECT_EQ(channels.Success(0), std::nullopt) << "it receives nothing of itself";
    near.Update(30.0, receiver, 1.0);
    far.Update(10.4, receiver, 1.0);
    EXPECT_NEAR(channels.Success(1).value(), 1.0, 1e-6);
    // 1514 bytes, a header of 6 and a CRC of 4 are 43 symbols of QPSK 3/4, 36 bytes each.
    EXPECT_NEAR(channels.Success(2).value(), std::pow(1.0 - BlockErrorRate(2, 10.4 - 11.2), 43), 1e-9);
    far.Update(6.3, receiver, 1.0);
    EXPECT_EQ(channels.Success(2), 0.0) << "out of range";
}

} // namespace netboxit::wimax
