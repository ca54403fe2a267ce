// SPDX-License-Identifier: GPL-2.0-or-later
#include "connection.h"
#include "scheduler.h"
#include "unsolicited.h"

#include <gtest/gtest.h>

namespace netboxit::wimax
{

namespace
{

/// So many bytes, whoever takes them.
class PlainRoom : public Room
{
  public:
    explicit PlainRoom(std::uint32_t bytes) : m_left(bytes)
    {
    }

    std::uint32_t Left(std::size_t) const override
    {
        return m_left;
    }
    void Take(std::size_t, std::uint32_t bytes) override
    {
        m_left -= bytes;
    }

  private:
    std::uint32_t m_left;
};

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

Claim Want(Scheduling scheduling, std::uint32_t wanted, std::uint32_t reserved = 0)
{
    Claim claim;
    claim.scheduling = scheduling;
    claim.wanted = wanted;
    claim.reserved = reserved;
    claim.permitted = wanted;
    return claim;
}

std::shared_ptr<Sdu> MakeSdu(std::uint32_t bytes)
{
    Sdu sdu;
    sdu.receivers = {1};
    sdu.corrupted = {false};
    sdu.bytes = bytes;
    return std::make_shared<Sdu>(sdu);
}

ServiceFlow Queue(std::uint32_t bytes)
{
    ServiceFlow flow;
    flow.queueBytes = bytes;
    return flow;
}

} // namespace

TEST(StrictPriority, ServesClassesInOrder)
{
    StrictPriority scheduler;
    PlainRoom room(1000);
    std::vector claims{Want(Scheduling::BestEffort, 600),
                       Want(Scheduling::NrtPs, 300),
                       Want(Scheduling::RtPs, 300),
                       Want(Scheduling::Ugs, 200)};
    scheduler.Share(claims, room);
    EXPECT_EQ(claims[3].granted, 200U);
    EXPECT_EQ(claims[2].granted, 300U);
    EXPECT_EQ(claims[1].granted, 300U);
    EXPECT_EQ(claims[0].granted, 200U);
}

TEST(StrictPriority, ReservedRateGoesBeforeAnotherClassesExcess)
{
    StrictPriority scheduler;
    PlainRoom room(1000);
    std::vector claims{Want(Scheduling::RtPs, 2000, 300), Want(Scheduling::NrtPs, 500, 400)};
    scheduler.Share(claims, room);
    EXPECT_EQ(claims[1].granted, 400U);
    EXPECT_EQ(claims[0].granted, 600U);
}

TEST(StrictPriority, NeverGrantsMoreThanPermitted)
{
    StrictPriority scheduler;
    PlainRoom room(10000);
    std::vector claims{Want(Scheduling::RtPs, 2000)};
    claims[0].permitted = 700;
    scheduler.Share(claims, room);
    EXPECT_EQ(claims[0].granted, 700U);
}

TEST(StrictPriority, RoundRobinSharesAClassEvenlyOverTime)
{
    StrictPriority scheduler;
    std::array<std::uint64_t, 3> total{};
    for (int frame = 0; frame < 300; ++frame)
    {
        PlainRoom room(5000);
        std::vector claims(3, Want(Scheduling::BestEffort, 5000));
        scheduler.Share(claims, room);
        for (std::size_t i = 0; i < 3; ++i)
        {
            total[i] += claims[i].granted;
        }
    }
    for (const auto bytes : total)
    {
        EXPECT_NEAR(static_cast<double>(bytes), 500000.0, 10000.0);
    }
}

/// What greedy best-effort connections of such weights and burst profiles get of each frame of 3000 bytes in the mean.
std::vector<double> Shares(Scheduler& scheduler, std::span<const double> weights, std::span<const double> bytesPerSymbol)
{
    constexpr int FRAMES = 1000;
    std::vector<double> total(weights.size());
    for (int frame = 0; frame < FRAMES; ++frame)
    {
        PlainRoom room(3000);
        std::vector claims(weights.size(), Want(Scheduling::BestEffort, 5000));
        for (std::size_t i = 0; i < weights.size(); ++i)
        {
            claims[i].connection = i;
            claims[i].weight = weights[i];
            claims[i].bytesPerSymbol = bytesPerSymbol[i];
        }
        scheduler.Share(claims, room);
        for (std::size_t i = 0; i < weights.size(); ++i)
        {
            total[i] += static_cast<double>(claims[i].granted) / FRAMES;
        }
    }
    return total;
}

TEST(WeightedFair, SharesInProportionToWeights)
{
    WeightedFair scheduler;
    const auto shares = Shares(scheduler, std::array{1.0, 2.0, 3.0}, std::array{12.0, 108.0, 36.0});
    EXPECT_NEAR(shares[0], 500.0, 5.0);
    EXPECT_NEAR(shares[1], 1000.0, 10.0);
    EXPECT_NEAR(shares[2], 1500.0, 15.0);
}

TEST(WeightedFair, GivesTheRestToWhoWantsMoreAndForgetsWhoWasIdle)
{
    WeightedFair scheduler;
    for (int frame = 0; frame < 100; ++frame)
    {
        PlainRoom room(3000);
        std::vector claims{Want(Scheduling::Ugs, 5000), Want(Scheduling::BestEffort, frame < 50 ? 300 : 5000)};
        claims[1].connection = 1;
        scheduler.Share(claims, room);
        EXPECT_NEAR(claims[0].granted, frame < 50 ? 2700.0 : 1500.0, 256.0);
    }
}

TEST(ProportionalFair, GivesEqualTimesWhateverTheProfile)
{
    // Bytes in proportion to what a symbol carries.
    ProportionalFair scheduler;
    const auto shares = Shares(scheduler, std::array{1.0, 1.0}, std::array{36.0, 12.0});
    EXPECT_NEAR(shares[0] / shares[1], 3.0, 0.1);
}

TEST(MaximumSnr, GivesAllToTheBestProfile)
{
    MaximumSnr scheduler;
    const auto shares = Shares(scheduler, std::array{1.0, 1.0, 1.0}, std::array{36.0, 108.0, 108.0});
    EXPECT_EQ(shares[0], 0.0);
    EXPECT_NEAR(shares[1], 1500.0, 15.0);
}

TEST(EverySchedulers, ReservedRatesGoFirst)
{
    for (std::size_t name = 0; name < SCHEDULER_NAMES.size(); ++name)
    {
        const auto scheduler = MakeScheduler(name);
        PlainRoom room(1000);
        std::vector claims{Want(Scheduling::Ugs, 2000), Want(Scheduling::NrtPs, 500, 400)};
        claims[0].bytesPerSymbol = 108.0;
        claims[1].connection = 1;
        scheduler->Share(claims, room);
        EXPECT_GE(claims[1].granted, 400U) << SCHEDULER_NAMES[name];
    }
}

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
    Accounts accounts(fates, 2);
    auto flow = Queue(10000);
    flow.carriage.packing = true;
    Connection connection(flow, accounts);
    for (int sdu = 0; sdu < 3; ++sdu)
    {
        connection.Enqueue(MakeSdu(100));
    }
    EXPECT_EQ(connection.AirBytes(), 6U + 4U + 3U * 103U);
    // Header and CRC, twice a subheader and an SDU, a subheader, and the rest of 260 bytes.
    const auto first = connection.Take(260);
    ASSERT_EQ(first.size(), 3U);
    EXPECT_EQ(first[0].bytes, 113U);
    EXPECT_EQ(first[1].bytes, 103U);
    EXPECT_EQ(first[2].payload, 260U - 216U - 3U);
    EXPECT_FALSE(first[0].packed);
    EXPECT_TRUE(first[1].packed && first[2].packed);
    EXPECT_TRUE(first[0].last && first[1].last);
    EXPECT_FALSE(first[2].last);
    // The rest goes alone, as a fragment without packing.
    const auto rest = connection.Take(1000);
    ASSERT_EQ(rest.size(), 1U);
    EXPECT_EQ(rest[0].bytes, 59U + 12U);
    EXPECT_TRUE(rest[0].last);
}

TEST(Connection, PackedPdusEndAtTheGreatestLength)
{
    NoFates fates;
    Accounts accounts(fates, 2);
    auto flow = Queue(10000);
    flow.carriage.packing = true;
    Connection connection(flow, accounts);
    for (int sdu = 0; sdu < 5; ++sdu)
    {
        connection.Enqueue(MakeSdu(900));
    }
    const auto pdus = connection.Take(10000);
    ASSERT_EQ(pdus.size(), 5U);
    EXPECT_EQ((std::vector<bool>{pdus[0].packed, pdus[1].packed, pdus[2].packed, pdus[3].packed, pdus[4].packed}),
              (std::vector<bool>{false, true, false, true, false}));
    EXPECT_LE(pdus[0].bytes + pdus[1].bytes, MAXIMUM_PDU);
    EXPECT_EQ(pdus[4].bytes, 910U);
}

TEST(Connection, WithoutFragmentationWaitsForRoomOrGivesUp)
{
    NoFates fates;
    Accounts accounts(fates, 2);
    auto flow = Queue(10000);
    flow.carriage = {false, false, false};
    Connection connection(flow, accounts);
    connection.Enqueue(MakeSdu(1000));
    connection.Enqueue(MakeSdu(100));
    EXPECT_TRUE(connection.Take(1005).empty());
    connection.DropOversize(1006);
    EXPECT_TRUE(fates.lost.empty());
    connection.DropOversize(1005);
    EXPECT_EQ(fates.lost, std::vector{Loss::Unsupported});
    EXPECT_EQ(connection.Take(106).size(), 1U); // no CRC
}

TEST(Connection, CutsAnSduIntoFragmentsThatFit)
{
    NoFates fates;
    Accounts accounts(fates, 2);
    Connection connection(Queue(10000), accounts);
    connection.Enqueue(MakeSdu(1514));
    EXPECT_EQ(connection.AirBytes(), 1524U);
    const auto first = connection.Take(600);
    ASSERT_EQ(first.size(), 1U);
    EXPECT_EQ(first[0].bytes, 600U);
    EXPECT_EQ(first[0].payload, 588U); // 600 less header 6, CRC 4, fragmentation subheader 2
    EXPECT_FALSE(first[0].last);
    EXPECT_EQ(connection.AirBytes(), 1514U - 588U + 12U);
    const auto second = connection.Take(5000);
    ASSERT_EQ(second.size(), 1U);
    EXPECT_EQ(second[0].bytes, 938U);
    EXPECT_TRUE(second[0].last);
    EXPECT_EQ(connection.AirBytes(), 0U);
    EXPECT_TRUE(connection.Take(5000).empty());
}

TEST(Connection, DropsTheNewestWhenFull)
{
    NoFates fates;
    Accounts accounts(fates, 2);
    Connection connection(Queue(250), accounts);
    connection.Enqueue(MakeSdu(100));
    connection.Enqueue(MakeSdu(100));
    connection.Enqueue(MakeSdu(100));
    EXPECT_EQ(fates.lost, std::vector{Loss::QueueFull});
    EXPECT_EQ(connection.QueuedBytes(), 200U);
}

TEST(Connection, DiscardsWhatIsTooOldUnlessBegun)
{
    NoFates fates;
    Accounts accounts(fates, 2);
    auto flow = Queue(1000);
    flow.maximumLatency = ns3::MilliSeconds(20);
    Connection connection(flow, accounts);
    connection.Enqueue(MakeSdu(100));
    connection.Enqueue(MakeSdu(100));
    connection.Take(50);
    connection.DropExpired(ns3::MilliSeconds(20));
    EXPECT_TRUE(fates.lost.empty());
    connection.DropExpired(ns3::MilliSeconds(30));
    EXPECT_EQ(fates.lost, std::vector{Loss::QueueExpired});
    EXPECT_EQ(connection.QueuedBytes(), 62U); // 100 less the 38 of a fragment of 50
    EXPECT_TRUE(connection.Take(200).front().last);
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
