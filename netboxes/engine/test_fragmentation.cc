// SPDX-License-Identifier: GPL-2.0-or-later
#include "fragmentation.h"

#include <gtest/gtest.h>

#include <vector>

namespace netboxit
{

namespace
{

std::vector<std::uint32_t> Payloads(std::uint32_t room, std::uint32_t packet)
{
    const Fragmentation fragmentation(room);
    std::vector<std::uint32_t> payloads;
    for (std::uint32_t offset = 0; offset < packet; offset += fragmentation.Part(packet, offset))
    {
        payloads.push_back(fragmentation.Payload(packet, offset));
    }
    return payloads;
}

} // namespace

TEST(Fragmentation, LeavesAPacketThatFitsWhole)
{
    EXPECT_EQ(Payloads(116, 40), std::vector<std::uint32_t>({41}));
    EXPECT_EQ(Payloads(116, 115), std::vector<std::uint32_t>({116}));
}

TEST(Fragmentation, CutsInUnitsOfEightBytes)
{
    // 116 - 5 = 111 bytes of room: 104 in whole units; the last fragment carries what is left.
    EXPECT_EQ(Payloads(116, 116), std::vector<std::uint32_t>({109, 17}));
    EXPECT_EQ(Payloads(116, 104 + 111), std::vector<std::uint32_t>({109, 116}));
    EXPECT_EQ(Payloads(116, 104 + 112), std::vector<std::uint32_t>({109, 109, 13}));
}

TEST(Fragmentation, CarriesEveryByteOnce)
{
    for (const std::uint32_t room : {102U, 114U, 116U})
    {
        for (std::uint32_t packet = 1; packet <= Fragmentation::LONGEST_PACKET; ++packet)
        {
            const Fragmentation fragmentation(room);
            std::uint32_t offset = 0;
            while (offset < packet)
            {
                const auto part = fragmentation.Part(packet, offset);
                ASSERT_GT(part, 0U);
                ASSERT_LE(fragmentation.Payload(packet, offset), room);
                ASSERT_EQ(offset % Fragmentation::UNIT, 0U);
                offset += part;
            }
            ASSERT_EQ(offset, packet);
        }
    }
}

} // namespace netboxit
