// SPDX-License-Identifier: GPL-2.0-or-later
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

Claim Want(Scheduling scheduling, std::uint32_t wanted, std::uint32_t reserved = 0)
{
    Claim claim;
    claim.scheduling = scheduling;
    claim.wanted = wanted;
    claim.reserved = reserved;
    claim.permitted = wanted;
    return claim;
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

/// One burst may be filled to its last byte, another one only by whole symbols of 100.
class UnevenRoom : public Room
{
  public:
    std::uint32_t Left(std::size_t burst) const override
    {
        return burst == 0 ? m_left : m_left / 100 * 100;
    }
    void Take(std::size_t, std::uint32_t bytes) override
    {
        m_left -= bytes;
    }

  private:
    std::uint32_t m_left{1590};
};

TEST(WeightedFair, WhoGetsAnUnusableRestHasLessNextTime)
{
    WeightedFair scheduler;
    std::array<double, 2> total{};
    for (int frame = 0; frame < 1000; ++frame)
    {
        UnevenRoom room;
        std::vector claims(2, Want(Scheduling::BestEffort, 5000));
        claims[1].burst = claims[1].connection = 1;
        scheduler.Share(claims, room);
        total[0] += claims[0].granted;
        total[1] += claims[1].granted;
    }
    EXPECT_NEAR(total[0] / total[1], 1.0, 0.001);
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

} // namespace netboxit::wimax
