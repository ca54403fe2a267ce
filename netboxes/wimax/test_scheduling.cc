// SPDX-License-Identifier: GPL-2.0-or-later
#include "connection.h"
#include "scheduler.h"

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
    return {0, scheduling, wanted, reserved, wanted, 0};
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
