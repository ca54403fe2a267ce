// SPDX-License-Identifier: GPL-2.0-or-later
#include "connection.h"

#include "../engine/testing/no_frames.h"
#include "unsolicited.h"

#include <gtest/gtest.h>

namespace netboxit::wimax
{

namespace
{

class NoFates : public Fates
{
  public:
    void Deliver(SlotId, StationId) override
    {
    }
    void Lose(SlotId, StationId, Loss reason) override
    {
        lost.push_back(reason);
    }
    void LoseAll(SlotId, Loss reason) override
    {
        lost.push_back(reason);
    }

    std::vector<Loss> lost;
};

std::shared_ptr<Sdu> MakeSdu(std::uint32_t bytes)
{
    Sdu sdu;
    sdu.receivers = {1};
    sdu.corrupted = {false};
    sdu.bytes = bytes;
    return std::make_shared<Sdu>(sdu);
}

ServiceFlow FlowWithRoom(std::uint32_t bytes)
{
    ServiceFlow flow;
    flow.queue = {{"discipline", "fifo"}, {"bytes", bytes}};
    return flow;
}

constexpr std::int64_t STREAM = 1;
constexpr double RATE = 1e6;
const ns3::Time START{0};

void Enqueue(Connection& connection, std::uint32_t bytes)
{
    connection.Enqueue(MakeSdu(bytes), {}, RATE);
}

} // namespace

TEST(GrantSize, GrowsAtOnceShrinksWithPatience)
{
    GrantSize size(500);
    EXPECT_EQ(size.Ask(300, 200), 300U);
    EXPECT_EQ(size.Ask(900, 300), 500U);
    EXPECT_EQ(size.Ask(900, 500), std::nullopt);
    for (const auto needed : {100U, 0U, 250U})
    {
        EXPECT_EQ(size.Ask(needed, 500), std::nullopt);
    }
    EXPECT_EQ(size.Ask(90, 500), 250U);
    for (int grant = 0; grant < 3; ++grant)
    {
        EXPECT_EQ(size.Ask(0, 250), std::nullopt);
    }
    EXPECT_EQ(size.Ask(0, 250), 0U);
}

TEST(Connection, PacksSmallSdusIntoOnePdu)
{
    NoFates fates;
    NoFrames frames;
    Accounts accounts(fates, frames, 2);
    auto flow = FlowWithRoom(10000);
    flow.carriage.packing = true;
    Connection connection(flow, accounts, STREAM);
    for (int sdu = 0; sdu < 3; ++sdu)
    {
        Enqueue(connection, 100);
    }
    EXPECT_EQ(connection.AirBytes(), 6U + 4U + 3U * 103U);
    // Header and CRC, twice a subheader and an SDU, a subheader, and the rest of 260 bytes.
    const auto first = connection.Take(260, START);
    ASSERT_EQ(first.size(), 3U);
    EXPECT_EQ(first[0].bytes, 113U);
    EXPECT_EQ(first[1].bytes, 103U);
    EXPECT_EQ(first[2].payload, 260U - 216U - 3U);
    EXPECT_FALSE(first[0].packed);
    EXPECT_TRUE(first[1].packed && first[2].packed);
    EXPECT_TRUE(first[0].last && first[1].last);
    EXPECT_FALSE(first[2].last);
    // The rest goes alone, as a fragment without packing.
    const auto rest = connection.Take(1000, START);
    ASSERT_EQ(rest.size(), 1U);
    EXPECT_EQ(rest[0].bytes, 59U + 12U);
    EXPECT_TRUE(rest[0].last);
}

TEST(Connection, WhatWaitedElsewhereGoesInItsOrder)
{
    NoFates fates;
    NoFrames frames;
    Accounts accounts(fates, frames, 2);
    Connection connection(FlowWithRoom(10000), accounts, STREAM);
    connection.Append(MakeSdu(100));
    connection.Append(MakeSdu(200));
    EXPECT_EQ(connection.QueuedBytes(), 300U);
    EXPECT_EQ(connection.AirBytes(), 300U + 2U * 10U);
    const auto pdus = connection.Take(1000, START);
    ASSERT_EQ(pdus.size(), 2U);
    EXPECT_EQ(pdus[0].payload, 100U);
    EXPECT_EQ(pdus[1].payload, 200U);
    connection.Append(MakeSdu(300));
    connection.DropAll(Loss::Outage, START);
    EXPECT_EQ(fates.lost, std::vector{Loss::Outage});
    EXPECT_EQ(connection.AirBytes(), 0U);
}

TEST(Connection, PackedPdusEndAtTheGreatestLength)
{
    NoFates fates;
    NoFrames frames;
    Accounts accounts(fates, frames, 2);
    auto flow = FlowWithRoom(10000);
    flow.carriage.packing = true;
    Connection connection(flow, accounts, STREAM);
    for (int sdu = 0; sdu < 5; ++sdu)
    {
        Enqueue(connection, 900);
    }
    const auto pdus = connection.Take(10000, START);
    ASSERT_EQ(pdus.size(), 5U);
    EXPECT_EQ((std::vector<bool>{pdus[0].packed, pdus[1].packed, pdus[2].packed, pdus[3].packed, pdus[4].packed}),
              (std::vector<bool>{false, true, false, true, false}));
    EXPECT_LE(pdus[0].bytes + pdus[1].bytes, MAXIMUM_PDU);
    EXPECT_EQ(pdus[4].bytes, 910U);
}

TEST(Connection, WithoutFragmentationWaitsForRoomOrGivesUp)
{
    NoFates fates;
    NoFrames frames;
    Accounts accounts(fates, frames, 2);
    auto flow = FlowWithRoom(10000);
    flow.carriage = {false, false, false};
    Connection connection(flow, accounts, STREAM);
    Enqueue(connection, 1000);
    Enqueue(connection, 100);
    EXPECT_TRUE(connection.Take(1005, START).empty());
    connection.DropOversize(1006, START);
    EXPECT_TRUE(fates.lost.empty());
    connection.DropOversize(1005, START);
    EXPECT_EQ(fates.lost, std::vector{Loss::Unsupported});
    EXPECT_EQ(connection.Take(106, START).size(), 1U); // no CRC
}

TEST(Connection, CutsAnSduIntoFragmentsThatFit)
{
    NoFates fates;
    NoFrames frames;
    Accounts accounts(fates, frames, 2);
    Connection connection(FlowWithRoom(10000), accounts, STREAM);
    Enqueue(connection, 1514);
    EXPECT_EQ(connection.AirBytes(), 1524U);
    const auto first = connection.Take(600, START);
    ASSERT_EQ(first.size(), 1U);
    EXPECT_EQ(first[0].bytes, 600U);
    EXPECT_EQ(first[0].payload, 588U); // 600 less header 6, CRC 4, fragmentation subheader 2
    EXPECT_FALSE(first[0].last);
    EXPECT_EQ(connection.AirBytes(), 1514U - 588U + 12U);
    const auto second = connection.Take(5000, START);
    ASSERT_EQ(second.size(), 1U);
    EXPECT_EQ(second[0].bytes, 938U);
    EXPECT_TRUE(second[0].last);
    EXPECT_EQ(connection.AirBytes(), 0U);
    EXPECT_TRUE(connection.Take(5000, START).empty());
}

TEST(Connection, DropsTheNewestWhenFull)
{
    NoFates fates;
    NoFrames frames;
    Accounts accounts(fates, frames, 2);
    Connection connection(FlowWithRoom(2500), accounts, STREAM);
    for (int sdu = 0; sdu < 3; ++sdu)
    {
        Enqueue(connection, 1000);
    }
    EXPECT_EQ(fates.lost, std::vector{Loss::QueueFull});
    EXPECT_EQ(connection.QueuedBytes(), 2000U);
}

TEST(Connection, AnSduPartlySentTakesNoRoomInTheQueue)
{
    NoFates fates;
    NoFrames frames;
    Accounts accounts(fates, frames, 2);
    Connection connection(FlowWithRoom(2500), accounts, STREAM);
    Enqueue(connection, 1000);
    Enqueue(connection, 1000);
    ASSERT_EQ(connection.Take(512, START).front().payload, 500U);
    Enqueue(connection, 1000);
    EXPECT_TRUE(fates.lost.empty());
    EXPECT_EQ(connection.ReadQueue(START).at("bytes"), 2000);
    EXPECT_EQ(connection.QueuedBytes(), 2500U);
    EXPECT_EQ(connection.AirBytes(), 2500U + 3 * 10U + 2U);
}

TEST(Connection, LooksOnlyAtWhatItHasRoomFor)
{
    NoFates fates;
    NoFrames frames;
    Accounts accounts(fates, frames, 2);
    auto flow = FlowWithRoom(10000);
    flow.carriage = {false, true, true};
    Connection connection(flow, accounts, STREAM);
    for (int sdu = 0; sdu < 4; ++sdu)
    {
        Enqueue(connection, 100);
    }
    EXPECT_TRUE(connection.Take(12, START).empty());
    EXPECT_EQ(connection.ReadQueue(START).at("packets"), 4);
    // Two fit, a third is looked at, and goes first the next time.
    EXPECT_EQ(connection.Take(250, START).size(), 2U);
    EXPECT_EQ(connection.ReadQueue(START).at("packets"), 1);
    EXPECT_EQ(connection.QueuedBytes(), 200U);
    EXPECT_EQ(connection.Take(250, START).size(), 2U);
    EXPECT_EQ(connection.QueuedBytes(), 0U);
}

TEST(Connection, WhatWaitsMovesToAnotherQueueButWhatIsBegunStays)
{
    NoFates fates;
    NoFrames frames;
    Accounts accounts(fates, frames, 2);
    Connection connection(FlowWithRoom(10000), accounts, STREAM);
    for (int sdu = 0; sdu < 4; ++sdu)
    {
        Enqueue(connection, 1000);
    }
    ASSERT_EQ(connection.Take(512, START).size(), 1U);
    connection.SetQueue({{"discipline", "fifo"}, {"packets", 1}}, START, RATE);
    EXPECT_EQ(fates.lost, (std::vector{Loss::QueueFull, Loss::QueueFull}));
    EXPECT_EQ(connection.QueuedBytes(), 1500U);
    const Json reversed{{"discipline", "red"}, {"minimum", 5}, {"maximum", 1}, {"probability", 0.1}, {"weight", 0.1}};
    EXPECT_THROW(connection.SetQueue(reversed, START, RATE), OutOfRange);
    EXPECT_EQ(connection.Take(3000, START).size(), 2U);
}

TEST(Connection, DiscardsWhatIsTooOldUnlessBegun)
{
    NoFates fates;
    NoFrames frames;
    Accounts accounts(fates, frames, 2);
    auto flow = FlowWithRoom(10000);
    flow.maximumLatency = ns3::MilliSeconds(20);
    Connection connection(flow, accounts, STREAM);
    Enqueue(connection, 100);
    Enqueue(connection, 100);
    connection.Take(50, START);
    connection.DropExpired(ns3::MilliSeconds(20));
    EXPECT_TRUE(fates.lost.empty());
    connection.DropExpired(ns3::MilliSeconds(30));
    EXPECT_EQ(fates.lost, std::vector{Loss::QueueExpired});
    EXPECT_EQ(connection.QueuedBytes(), 62U); // 100 less the 38 of a fragment of 50
    EXPECT_TRUE(connection.Take(200, START).front().last);
}

TEST(Connection, DiscardsWhatFoundNoRoomUntilItWasTooOld)
{
    NoFates fates;
    NoFrames frames;
    Accounts accounts(fates, frames, 2);
    auto flow = FlowWithRoom(10000);
    flow.carriage.fragmentation = false;
    flow.maximumLatency = ns3::MilliSeconds(20);
    Connection connection(flow, accounts, STREAM);
    Enqueue(connection, 1000);
    Enqueue(connection, 1000);
    EXPECT_TRUE(connection.Take(500, START).empty());
    connection.DropExpired(ns3::MilliSeconds(30));
    EXPECT_EQ(fates.lost, (std::vector{Loss::QueueExpired, Loss::QueueExpired}));
    EXPECT_EQ(connection.QueuedBytes(), 0U);
}

TEST(Connection, LosesAllForAReason)
{
    NoFates fates;
    NoFrames frames;
    Accounts accounts(fates, frames, 2);
    Connection connection(FlowWithRoom(10000), accounts, STREAM);
    Enqueue(connection, 1000);
    Enqueue(connection, 1000);
    Enqueue(connection, 1000);
    connection.Take(512, START);
    connection.DropHead(Loss::RetryLimit, START);
    connection.DropAll(Loss::Outage, START);
    EXPECT_EQ(fates.lost, (std::vector{Loss::RetryLimit, Loss::Outage, Loss::Outage}));
    EXPECT_EQ(connection.QueuedBytes(), 0U);
}

TEST(TokenBucket, FillsAtItsRateUpToItsDepth)
{
    TokenBucket bucket(8000.0, 500.0); // 1000 bytes a second
    EXPECT_EQ(bucket.Available(ns3::Seconds(10)), 500U);
    bucket.Take(700);
    EXPECT_EQ(bucket.Available(ns3::Seconds(10.1)), 0U);
    EXPECT_EQ(bucket.Available(ns3::Seconds(10.4)), 200U);
}

} // namespace netboxit::wimax
