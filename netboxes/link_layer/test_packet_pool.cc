// SPDX-License-Identifier: GPL-2.0-or-later
#include "packet_pool.h"

#include <gtest/gtest.h>

#include <tuple>

using namespace netboxit::multiservice;

namespace
{

using Settled = std::vector<std::tuple<std::uint64_t, bool, Drop>>;

PacketPool::Settle Into(Settled& settled)
{
    return [&settled](std::uint64_t item, bool isDelivered, Drop reason) { settled.emplace_back(item, isDelivered, reason); };
}

} // namespace

TEST(PacketPoolTest, APacketIsSettledWithItsLastReference)
{
    Settled settled;
    PacketPool pool(Into(settled));
    auto packet = pool.Take(7, 100);
    auto second = packet;
    packet.Blame(Drop::OnAir);
    packet = {};
    EXPECT_TRUE(settled.empty());
    EXPECT_EQ(second.Item(), 7U);
    EXPECT_EQ(second.Bytes(), 100U);
    second = {};
    EXPECT_EQ(settled, (Settled{{7, false, Drop::OnAir}}));
    EXPECT_EQ(pool.Packets(), 0U);
}

TEST(PacketPoolTest, TellsWhetherAPacketWasDelivered)
{
    Settled settled;
    PacketPool pool(Into(settled));
    pool.Take(1, 10).MarkDelivered();
    pool.Take(2, 10);
    EXPECT_EQ(settled, (Settled{{1, true, Drop::Ended}, {2, false, Drop::Ended}}));
}

TEST(PacketPoolTest, NumbersAreUsedAgainWithoutGrowing)
{
    Settled settled;
    PacketPool pool(Into(settled));
    for (std::uint64_t item = 0; item < 1000; ++item)
    {
        const auto one = pool.Take(item, 1);
        const auto other = pool.Take(item, 1);
        EXPECT_EQ(pool.Packets(), 2U);
        EXPECT_NE(one.Sum(), other.Sum());
    }
    EXPECT_EQ(settled.size(), 2000U);
}

TEST(PacketPoolTest, ParityYieldsAnyOneMissingPacket)
{
    Settled settled;
    PacketPool pool(Into(settled));
    for (std::uint64_t missing = 1; missing <= 5; ++missing)
    {
        Packet parity;
        std::uint32_t sum = 0;
        for (std::uint64_t item = 1; item <= 5; ++item)
        {
            const auto packet = pool.Take(item, static_cast<std::uint32_t>(10 * item));
            parity = parity ? parity : packet.MakeParity();
            parity.Cover(packet);
            sum ^= item == missing ? 0 : packet.Sum();
        }
        EXPECT_EQ(parity.Bytes(), 50U); // of the longest
        EXPECT_EQ(pool.Packets(), 6U);  // it keeps them all
        EXPECT_EQ(parity.Recover(sum).Item(), missing);
        parity = {};
        EXPECT_EQ(pool.Packets(), 0U);
        EXPECT_EQ(settled.size(), 5U);
        settled.clear();
    }
}
