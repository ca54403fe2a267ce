// SPDX-License-Identifier: GPL-2.0-or-later
// XOR and adaptive XOR: section 5.2.1.
#include "test_link.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <set>
#include <string>

using namespace netboxit::multiservice;
using namespace netboxit::multiservice::testing;

namespace
{

Json Xor(unsigned block)
{
    return {{"scheme", "xor"}, {"block", block}};
}

Json AdaptiveXor(unsigned block, double inactivity)
{
    return {{"scheme", "xor-adaptive"}, {"block", block}, {"inactivity", inactivity}};
}

/// Packets of 50, 49, … bytes go one behind the other; these frames are lost, by their number from 0.
struct Script
{
    Script(const Json& scheme, unsigned packets, std::set<unsigned> lost)
        : link(events, CELLULAR, Layer({scheme}), [this, lost](int, const AirFrame&)
               { return Fate{.isLost = lost.contains(m_sent++)}; })
    {
        for (unsigned packet = 1; packet <= packets; ++packet)
        {
            link.Send(0, packet, 51 - packet);
        }
        events.RunUntil(10 * SECOND);
    }

    Events events;
    TestLink link;

  private:
    unsigned m_sent{0};
};

using Items = std::vector<std::uint64_t>;

} // namespace

TEST(XorTest, ALossInABlockIsRepairedAndTwoAreNever)
{
    EXPECT_EQ(Script(Xor(4), 4, {}).link.DeliveredItems(1), (Items{1, 2, 3, 4}));
    EXPECT_EQ(Script(Xor(4), 4, {1}).link.DeliveredItems(1), (Items{1, 3, 4, 2}));
    EXPECT_EQ(Script(Xor(4), 4, {3}).link.DeliveredItems(1), (Items{1, 2, 3, 4}));
    EXPECT_EQ(Script(Xor(4), 4, {4}).link.DeliveredItems(1), (Items{1, 2, 3, 4})); // the parity
    EXPECT_EQ(Script(Xor(4), 4, {0, 2}).link.DeliveredItems(1), (Items{2, 4}));
    EXPECT_EQ(Script(Xor(4), 4, {1, 4}).link.DeliveredItems(1), (Items{1, 3, 4}));
    // Two blocks, a loss in each.
    EXPECT_EQ(Script(Xor(4), 8, {1, 8}).link.DeliveredItems(1), (Items{1, 3, 4, 2, 5, 6, 7, 8}));
}

TEST(XorTest, ParityIsAsLongAsTheLongestPacketAndTwoBytesMore)
{
    Script script(Xor(4), 8, {});
    const auto& departures = script.link.Departures(0);
    ASSERT_EQ(departures.size(), 10U);
    EXPECT_EQ(departures[4].type, FrameType::Parity);
    EXPECT_EQ(departures[4].bytes, 50U + 2);
    EXPECT_EQ(departures[9].type, FrameType::Parity);
    EXPECT_EQ(departures[9].bytes, 46U + 2);
    // All frames are numbered; 255 is the largest multiple of 5 below 256.
    for (unsigned number = 0; number < 10; ++number)
    {
        EXPECT_EQ(departures[number].sequence, number);
    }
}

TEST(XorTest, WhatIsLostForGoodIsCountedAlsoBeforeASilence)
{
    Script script(Xor(4), 12, {0, 2, 5, 10, 11});
    EXPECT_EQ(script.link[1].StatisticsOf(0).repaired, 1U);
    EXPECT_EQ(script.link[1].StatisticsOf(0).lost, 4U); // nothing comes behind the last block
    for (const std::uint64_t packet : {1, 3, 9, 10})
    {
        ASSERT_TRUE(script.link.Settled(packet)) << packet;
        EXPECT_EQ(script.link.Settled(packet)->reason, Drop::OnAir);
    }
    EXPECT_EQ(script.link.Pool().Packets(), 0U);
}

TEST(XorTest, WhatComesAfterASilenceWasNotLost)
{
    // One of two packets that parity could not repair was overtaken by more than it should be.
    Events events;
    TestLink link(events, WLAN, Layer({Xor(4)}),
                  [](int, const AirFrame& frame)
                  { return Fate{.isLost = frame.payload.Item() == 1, .later = frame.payload.Item() == 2 ? 200 * MILLISECOND : 0}; });
    for (const std::uint64_t packet : {1, 2, 3, 4})
    {
        link.Send(0, packet, 100);
    }
    events.RunUntil(100 * MILLISECOND);
    EXPECT_EQ(link[1].StatisticsOf(0).lost, 2U);
    events.RunUntil(SECOND);
    EXPECT_EQ(link.DeliveredItems(1), (Items{3, 4, 2}));
    EXPECT_EQ(link[1].StatisticsOf(0).lost, 1U);
    EXPECT_EQ(link.Pool().Packets(), 0U);
}

TEST(XorTest, AParityWithoutFurtherUseIsForgottenAtOnce)
{
    for (const std::uint64_t lost : {0, 2, 4})
    {
        Events events;
        TestLink link(events, WLAN, Layer({Xor(4)}),
                      [&](int, const AirFrame& frame)
                      { return Fate{.isLost = frame.type == FrameType::Data && frame.payload.Item() == lost}; });
        for (const std::uint64_t packet : {1, 2, 3, 4, 5})
        {
            link.Send(0, packet, 100);
        }
        // The parity of the first block has come with the fifth packet, and a round trip has not passed since.
        events.RunUntil(WLAN.delay + 6 * 8 * 103 * SECOND / static_cast<std::int64_t>(WLAN.rate));
        EXPECT_EQ(link.DeliveredItems(1).size(), 5U);
        EXPECT_EQ(link.Pool().Packets(), 2U) << "packet 5 and the sender's parity";
    }
}

TEST(XorTest, AReceiverKeepsOneSumAndNoPackets)
{
    // A4: one buffer at the receiver, whatever the size of the block. While a block is open, the sender's parity packet refers to
    // all packets of the block, so what the receiver keeps shows only when the sender has ended the block. The parity frame is
    // lost here, so the receiver has no other reference: neither with the whole block, nor with all of it but one packet.
    for (const unsigned block : {8U, 127U})
    {
        for (const std::uint64_t lost : {0, 3})
        {
            SCOPED_TRACE(std::to_string(block) + " packets, lost: " + std::to_string(lost));
            Events events;
            TestLink link(events, WLAN, Layer({Xor(block)}), [&](int, const AirFrame& frame)
                          { return Fate{.isLost = frame.type == FrameType::Parity || frame.payload.Item() == lost}; });
            for (std::uint64_t packet = 1; packet < block; ++packet)
            {
                link.Send(0, packet, 100);
                events.RunUntil(events.Now() + 10 * MILLISECOND);
                ASSERT_EQ(link.Pool().Packets(), packet + 1); // and the parity packet
            }
            link.Send(0, block, 100);
            events.RunUntil(events.Now() + SECOND);
            EXPECT_EQ(link[0].StatisticsOf(0).sentParity, 1U);
            EXPECT_EQ(link.Delivered(1).size(), block - (lost > 0 ? 1 : 0));
            EXPECT_EQ(link.Pool().Packets(), 0U);
        }
    }
}

TEST(XorTest, LongBlocksOfWhichTwoHaveNumbersLoseNothing)
{
    constexpr std::uint64_t PACKETS = 600;
    for (const unsigned block : {84U, 85U, 127U})
    {
        Events events;
        TestLink link(events, WLAN, Layer({Xor(block)}));
        for (std::uint64_t packet = 1; packet <= PACKETS; ++packet)
        {
            link.Send(0, packet, 100);
        }
        events.RunUntil(10 * SECOND);
        EXPECT_EQ(link.DeliveredItems(1).size(), PACKETS) << block;
        EXPECT_EQ(link[1].StatisticsOf(0).lost, 0U) << block;
    }
}

TEST(XorTest, AFrameThatTheNextBlockOvertookEndsNoBlock)
{
    // Of the second block one frame comes, behind the third block's first.
    const std::set<unsigned> lost{4, 5};
    Events events;
    unsigned sent = 0;
    TestLink link(events, WLAN, Layer({Xor(2)}),
                  [&](int, const AirFrame&)
                  {
                      const auto number = sent++;
                      return Fate{.isLost = lost.contains(number), .later = number == 3 ? 2 * MILLISECOND : 0};
                  });
    for (const std::uint64_t packet : {1, 2, 3, 4, 5})
    {
        link.Send(0, packet, 100);
    }
    events.RunUntil(SECOND);
    link.Send(0, 6, 100);
    events.RunUntil(2 * SECOND);
    EXPECT_EQ(link.DeliveredItems(1), (Items{1, 2, 5, 3, 6}));
    EXPECT_EQ(link[1].StatisticsOf(0).lost, 1U);
}

TEST(XorTest, ABlockOfLongAgoIsNotTakenForANewOne)
{
    // Frames of the blocks 1 to 3 and 5 to 7 are lost, and adaptive XOR has eight numbers: block 8 has that of block 0.
    Events events;
    const std::set<std::uint64_t> arriving{1, 5, 9};
    TestLink link(events, WLAN, Layer({AdaptiveXor(1, 1)}), [&](int, const AirFrame& frame)
                  { return Fate{.isLost = frame.type == FrameType::Parity || !arriving.contains(frame.payload.Item())}; });
    for (std::uint64_t packet = 1; packet <= 9; ++packet)
    {
        link.Send(0, packet, 10);
    }
    events.RunUntil(SECOND);
    EXPECT_EQ(link.DeliveredItems(1), (Items{1, 5, 9}));
}

TEST(XorTest, ResidualLossIsThatOfTheClosedForm)
{
    // p(1 - (1-p)^n), in % to three digits. On WLAN a frame of 1002 bytes is hit by an error each
    // so many bytes.
    struct Row
    {
        LinkFacts facts;
        unsigned block;
        std::vector<std::pair<double, double>> residual; ///< loss, and what is left of it in %
    };

    const auto hit = [](int power) { return 1 - std::exp(-1002 / std::pow(2, power)); };

    const std::vector<Row> rows{{CELLULAR, 8, {{0.01, 0.077}, {0.02, 0.298}, {0.05, 1.683}, {0.1, 5.695}}},
                                {WLAN, 12, {{hit(17), 0.067}, {hit(16), 0.254}, {hit(15), 0.925}, {hit(14), 3.085}}},
                                {WLAN, 10, {{hit(17), 0.056}, {hit(16), 0.215}, {hit(15), 0.793}, {hit(14), 2.714}}}};
    unsigned seed = 100;
    for (const auto& [facts, block, residual] : rows)
    {
        for (const auto& [loss, expected] : residual)
        {
            const auto formula = loss * (1 - std::pow(1 - loss, block));
            EXPECT_NEAR(100 * formula, expected, 6e-4);
            Events events;
            std::mt19937 random(++seed);
            std::uniform_real_distribution<double> uniform;
            TestLink link(events, facts, Layer({Xor(block)}), [&](int, const AirFrame&)
                          { return Fate{.isLost = uniform(random) < loss}; });
            link.keepsDepartures = link.keepsDeliveries = false;
            constexpr std::uint64_t BLOCKS = 20'000;
            for (std::uint64_t item = 1; item <= BLOCKS * block; ++item)
            {
                link.Send(0, item, facts.framePayload);
                events.RunUntil(events.Now() + facts.TimeOf(1.5 * facts.framePayload));
            }
            events.RunUntil(events.Now() + SECOND);
            const auto lost = BLOCKS * block - link[1].StatisticsOf(0).delivered;
            // Blocks are independent, and of one block: a loss stays if there is another one, or that of the parity. Sum over k
            // losses of data.
            double mean = 0, square = 0;
            for (unsigned k = 0; k <= block; ++k)
            {
                const auto ways = std::tgamma(block + 1) / std::tgamma(k + 1) / std::tgamma(block - k + 1);
                const auto probability = ways * std::pow(loss, k) * std::pow(1 - loss, block - k) * (k == 1 ? loss : 1);
                mean += k * probability;
                square += k * k * probability;
            }
            EXPECT_NEAR(mean / block, formula, 1e-12);
            const auto sigma = std::sqrt(BLOCKS * (square - mean * mean));
            EXPECT_NEAR(static_cast<double>(lost), BLOCKS * mean, 3 * sigma) << block << ' ' << loss;
        }
    }
}

TEST(AdaptiveXorTest, APauseEndsTheBlock)
{
    Events events;
    unsigned sent = 0;
    TestLink link(events, CELLULAR, Layer({AdaptiveXor(8, 0.1)}), [&](int, const AirFrame&)
                  { return Fate{.isLost = sent++ == 1}; });
    for (unsigned packet = 1; packet <= 3; ++packet)
    {
        link.Send(0, packet, 50);
        events.RunUntil(events.Now() + 41 * MILLISECOND);
    }
    events.RunUntil(SECOND);
    EXPECT_EQ(link.DeliveredItems(1), (Items{1, 3, 2}));
    const auto& departures = link.Departures(0);
    ASSERT_EQ(departures.size(), 4U);
    EXPECT_EQ(departures[3].type, FrameType::Parity);
    EXPECT_EQ(departures[3].sequence, 3); // the size of the block
    EXPECT_EQ(departures[3].ends, 82 * MILLISECOND + 100 * MILLISECOND + CELLULAR.TimeOf(52));
}

TEST(AdaptiveXorTest, ABlockThatIsFullEndsAtOnce)
{
    Script script(AdaptiveXor(4, 5), 8, {2, 6});
    EXPECT_EQ(script.link.DeliveredItems(1), (Items{1, 2, 4, 3, 5, 7, 8, 6}));
}

TEST(AdaptiveXorTest, WithoutItsParityABlockIsNotRepaired)
{
    Script script(AdaptiveXor(4, 5), 8, {2, 4});
    EXPECT_EQ(script.link.DeliveredItems(1), (Items{1, 2, 4, 5, 6, 7, 8}));
    EXPECT_EQ(script.link[1].StatisticsOf(0).lost, 1U);
}
