// SPDX-License-Identifier: GPL-2.0-or-later
// An allocator and members over a network that delays, loses, repeats and reorders.
#include "test_network.h"

#include <gtest/gtest.h>

#include <cstdio>

using namespace netboxit::middleware;
using namespace netboxit::middleware::testing;
using Event = Member::Event::Kind;

namespace
{

constexpr Rate MBIT = 1'000'000;
constexpr Time RTT = 100 * MILLISECOND; ///< of the network as it is by default

Allocator::Settings Reassigning(Rate capacity)
{
    auto settings = SettingsFor(capacity);
    settings.reassigns = true;
    return settings;
}

} // namespace

TEST(InANetwork, AJoinConvergesWithinThreeRoundTrips)
{
    Network network(SettingsFor(20 * MBIT));
    network.StartAllocator();
    network.Add(9);
    network.JoinAll();
    network.RunUntil(10 * SECOND);
    ASSERT_TRUE(network.IsConverged());
    const auto joined = network.now;
    network.Add(1);
    network.members.back()->Join(network.now);
    network.SendOf(9);
    network.RunUntil(joined + 3 * RTT, [&network] { return network.IsConverged(); });
    EXPECT_TRUE(network.IsConverged());
    EXPECT_EQ(network.allocator->Announced().share, 2 * MBIT);
    std::printf("  a join: converged after %.2f round trips\n", static_cast<double>(network.now - joined) / RTT);
}

TEST(InANetwork, TwoHundredJoinsAtOnceAreAnsweredWithOneMulticast)
{
    Network network(SettingsFor(20 * MBIT));
    network.StartAllocator();
    network.Add(200);
    const auto began = network.now;
    network.RunUntil(began + 20 * SECOND);
    const auto announced = network.allocator->Read()["announcements"].get<int>();
    network.JoinAll();
    network.RunUntil(network.now + 3 * RTT, [&network] { return network.IsConverged(); });
    EXPECT_TRUE(network.IsConverged());
    const auto read = network.allocator->Read();
    EXPECT_EQ(read["announcements"].get<int>() - announced, 1);
    EXPECT_EQ(read["grants"], 200);
    EXPECT_EQ(network.allocator->Announced().share, 20 * MBIT / 200);
}

TEST(InANetwork, ConvergesWithLossDuplicationAndReordering)
{
    double worst = 0;
    for (unsigned seed = 1; seed <= 20; ++seed)
    {
        const Medium medium{.delay = 50 * MILLISECOND, .jitter = 100 * MILLISECOND, .loss = 0.3, .duplicates = 0.1};
        Network network(SettingsFor(20 * MBIT), medium, seed);
        network.StartAllocator();
        network.Add(30);
        const auto began = network.now;
        network.JoinAll();
        network.RunUntil(began + 120 * SECOND, [&network] { return network.IsConverged(); });
        ASSERT_TRUE(network.IsConverged());
        worst = std::max(worst, static_cast<double>(network.now - began) / SECOND);
        const auto expired = network.allocator->Read()["expired"];
        // And it stays so: no lease is lost although requests and answers are.
        network.RunUntil(network.now + 600 * SECOND);
        for (const auto& member : network.members)
        {
            ASSERT_EQ(member->Read()["leases_lost"], 0);
            ASSERT_EQ(member->Budget(), network.allocator->Announced().share);
        }
        ASSERT_EQ(network.allocator->Read()["expired"], expired) << "none since then";
    }
    std::printf("  30 members, 30 %% loss: converged after %.1f s at most in 20 seeds\n", worst);
}

TEST(InANetwork, NoLeaseIsLostOverASatelliteThatLosesThreeOfTenEachWay)
{
    for (unsigned seed = 1; seed <= 20; ++seed)
    {
        Network network(SettingsFor(4 * MBIT), {.delay = 270 * MILLISECOND, .jitter = 1000 * MILLISECOND, .loss = 0.3}, seed);
        network.StartAllocator();
        network.Add(2);
        network.JoinAll();
        network.RunUntil(network.now + 120 * SECOND, [&network] { return network.IsConverged(); });
        ASSERT_TRUE(network.IsConverged());
        network.RunUntil(network.now + 600 * SECOND);
        for (const auto& member : network.members)
        {
            ASSERT_EQ(member->Read()["leases_lost"], 0) << "seed " << seed;
        }
    }
}

TEST(InANetwork, ALeaveGivesTheRateToTheOthers)
{
    Network network(SettingsFor(9 * MBIT));
    network.StartAllocator();
    network.Add(3);
    network.JoinAll();
    network.RunUntil(5 * SECOND);
    network.members[0]->Leave(network.now);
    network.SendOf(0);
    EXPECT_FALSE(network.members[0]->Budget());
    network.RunUntil(network.now + 2 * RTT);
    EXPECT_EQ(network.Count(0, Event::Left), 1);
    EXPECT_EQ(network.members[1]->Budget(), 9 * MBIT / 2);
    EXPECT_EQ(network.allocator->Read()["leaves"], 1);
    network.members[0]->Join(network.now);
    network.SendOf(0);
    network.RunUntil(network.now + 3 * RTT);
    EXPECT_TRUE(network.IsConverged());
}

TEST(InANetwork, AMemberThatDisappearsLosesItsLease)
{
    Network network(SettingsFor(9 * MBIT));
    network.StartAllocator();
    network.Add(3);
    network.JoinAll();
    network.RunUntil(60 * SECOND);
    network.isConnected[0] = false;
    const auto gone = network.now;
    network.RunUntil(gone + 40 * SECOND, [&network] { return network.allocator->Read()["expired"] == 1; });
    const auto expired = network.now;
    EXPECT_FALSE(network.members[0]->HasLease()) << "its own clock ends the lease not later";
    EXPECT_EQ(network.Count(0, Event::LeaseLost), 1);
    EXPECT_EQ(network.Count(0, Event::Unreachable), 1);
    EXPECT_LE(expired - gone, 16 * SECOND + RTT);
    network.RunUntil(expired + RTT);
    EXPECT_EQ(network.members[1]->Budget(), 9 * MBIT / 2);
    network.isConnected[0] = true;
    network.RunUntil(expired + 100 * SECOND);
    EXPECT_TRUE(network.IsConverged());
    EXPECT_EQ(network.Count(0, Event::Reachable), 1);
    std::printf("  a member that disappears: its share is given away after %.1f s\n", static_cast<double>(expired - gone) / SECOND);
}

TEST(InANetwork, WithoutALeaseTheLastBudgetStaysOrNone)
{
    for (const auto& [withoutLease, expected] : {std::pair{Member::WithoutLease::Unmanaged, std::optional<Rate>{}},
                                                std::pair{Member::WithoutLease::Hold, std::optional<Rate>{3 * MBIT}}})
    {
        Network network(SettingsFor(9 * MBIT));
        network.StartAllocator();
        network.Add(3, withoutLease);
        network.JoinAll();
        network.RunUntil(10 * SECOND);
        network.StopAllocator();
        network.RunUntil(60 * SECOND);
        EXPECT_FALSE(network.members[0]->HasLease());
        EXPECT_EQ(network.members[0]->Budget(), expected);
    }
}

TEST(InANetwork, ACapacityThatChangesIsAnnounced)
{
    Network network(SettingsFor(9 * MBIT));
    network.StartAllocator();
    network.Add(3);
    network.JoinAll();
    network.RunUntil(5 * SECOND);
    for (const auto capacity : {3 * MBIT, 30 * MBIT, Rate{0}, MBIT})
    {
        network.allocator->SetCapacity(capacity, network.now);
        network.Send();
        network.RunUntil(network.now + SECOND + RTT);
        EXPECT_EQ(network.members[2]->Budget(), capacity / 3);
        EXPECT_LE(network.Applied(), capacity);
    }
}

TEST(InANetwork, TheMembersOfARestartedAllocatorComeBackAndNeverHaveMoreThanTheLink)
{
    for (const auto count : {std::size_t{10}, std::size_t{1000}})
    {
        const auto capacity = 2 * MBIT;
        auto settings = SettingsFor(capacity);
        Network network(settings);
        network.StartAllocator();
        network.Add(count);
        network.JoinAll();
        network.RunUntil(30 * SECOND);
        ASSERT_TRUE(network.IsConverged());
        const auto share = network.allocator->Announced().share;
        network.StopAllocator();
        network.RunUntil(network.now + 3 * SECOND);
        network.settings.recovers = true;
        network.StartAllocator();
        const auto returned = network.now;
        auto most = Rate{0};
        network.RunUntil(returned + 100 * SECOND, [&network, &most] {
            most = std::max(most, network.Applied());
            return network.IsConverged();
        });
        ASSERT_TRUE(network.IsConverged());
        EXPECT_LE(most, capacity);
        EXPECT_EQ(network.allocator->Announced().share, share);
        EXPECT_EQ(network.Count(0, Event::LeaseLost), 0);
        EXPECT_EQ(network.members[0]->Read()["instances"], 2);
        std::printf("  %zu members come back to a restarted allocator within %.1f s\n",
                    count,
                    static_cast<double>(network.now - returned) / SECOND);
    }
}

TEST(InANetwork, ANewcomerOfARestartedAllocatorDoesNotTakeWhatAbsentMembersStillHold)
{
    Network network(SettingsFor(10 * MBIT));
    network.StartAllocator();
    network.Add(9);
    network.JoinAll();
    network.RunUntil(30 * SECOND);
    network.StopAllocator();
    for (std::size_t member = 5; member < 9; ++member)
    {
        network.isConnected[member] = false; // they hold their budgets, and hear of nothing
    }
    network.Add(1);
    network.settings.recovers = true;
    network.StartAllocator();
    network.members[9]->Join(network.now);
    network.SendOf(9);
    const auto returned = network.now;
    network.RunUntil(returned + 8 * SECOND);
    EXPECT_EQ(network.members[9]->Budget(), MBIT);
    EXPECT_EQ(network.members[5]->Budget(), 10 * MBIT / 9) << "held";
    EXPECT_EQ(network.allocator->Read()["absent"], 4);
    EXPECT_LE(network.Applied(), 10 * MBIT + 4 * (10 * MBIT / 9 - MBIT)) << "more only by what the absent have not heard of";
    network.RunUntil(returned + 30 * SECOND);
    EXPECT_EQ(network.allocator->Read()["absent"], 0);
    EXPECT_EQ(network.members[9]->Budget(), 10 * MBIT / 6);
}

TEST(InANetwork, MembersWithoutALeaseJoinAnAllocatorThatComesBackLater)
{
    Network network(SettingsFor(2 * MBIT));
    network.StartAllocator();
    network.Add(50);
    network.JoinAll();
    network.RunUntil(30 * SECOND);
    network.StopAllocator();
    network.RunUntil(600 * SECOND);
    EXPECT_FALSE(network.members[0]->HasLease());
    network.settings.recovers = true;
    network.StartAllocator();
    const auto returned = network.now;
    network.RunUntil(returned + 100 * SECOND, [&network] { return network.IsConverged(); });
    EXPECT_TRUE(network.IsConverged());
    std::printf("  50 members without leases join an allocator that comes back within %.1f s\n",
                static_cast<double>(network.now - returned) / SECOND);
}

TEST(InANetwork, AThousandMembersTakeLessThanOnePercentOfTwoMegabits)
{
    Network network(SettingsFor(2 * MBIT), {.delay = 50 * MILLISECOND, .jitter = 10 * MILLISECOND});
    network.StartAllocator();
    network.Add(1000);
    network.JoinAll();
    network.RunUntil(600 * SECOND);
    ASSERT_TRUE(network.IsConverged());
    const auto before = network.bits;
    constexpr Time MEASURED = 2048 * SECOND;
    network.RunUntil(network.now + MEASURED);
    const auto rate = static_cast<double>(network.bits - before) * SECOND / MEASURED;
    EXPECT_LT(rate, 20'000);
    EXPECT_EQ(network.allocator->Read()["expired"], 0);
    std::printf("  1000 members: %.0f bit/s with the headers of IPv4 and Ethernet\n", rate);
}

TEST(InANetwork, DybraGivesTheRateOfBadMembersToTheOthers)
{
    Network network(Reassigning(20 * MBIT));
    network.StartAllocator();
    network.Add(10);
    network.JoinAll();
    network.RunUntil(10 * SECOND);
    const auto setAccess = [&network](Rate access) {
        for (std::size_t member = 0; member < 5; ++member)
        {
            network.members[member]->SetAccess(access, network.now);
            network.SendOf(member);
        }
        network.RunUntil(network.now + 3 * RTT);
    };
    setAccess(MBIT / 2);
    EXPECT_EQ(network.members[0]->Budget(), MBIT / 2);
    EXPECT_EQ(network.members[9]->Budget(), 3'500'000);
    EXPECT_EQ(network.Applied(), 20 * MBIT);
    setAccess(20 * MBIT);
    EXPECT_EQ(network.members[0]->Budget(), 2 * MBIT);
    EXPECT_EQ(network.members[9]->Budget(), 2 * MBIT);
    EXPECT_EQ(network.allocator->Read()["bad"], 0);
}

TEST(InANetwork, DybraHoldsWhatItPromisesWithLossAndChangesOfAllKinds)
{
    for (unsigned seed = 1; seed <= 10; ++seed)
    {
        const Medium medium{.delay = 20 * MILLISECOND, .jitter = 40 * MILLISECOND, .loss = 0.2, .duplicates = 0.1};
        Network network(Reassigning(20 * MBIT), medium, seed);
        network.StartAllocator();
        network.Add(20);
        network.JoinAll();
        network.RunUntil(60 * SECOND);
        auto capacity = 20 * MBIT;
        for (int change = 0; change < 100; ++change)
        {
            const auto member = network.random() % 20;
            switch (network.random() % 6)
            {
            case 0:
                network.members[member]->Leave(network.now);
                break;
            case 1:
                network.members[member]->Join(network.now);
                break;
            case 2:
                capacity = static_cast<Rate>(network.random() % (40 * MBIT));
                network.allocator->SetCapacity(capacity, network.now);
                network.Send();
                break;
            default:
                network.members[member]->SetAccess(static_cast<Rate>(network.random() % (4 * MBIT)), network.now);
            }
            network.SendOf(member);
            network.RunUntil(network.now + static_cast<Time>(network.random() % SECOND));
            ASSERT_LE(network.allocator->Assigned(), capacity);
        }
        for (std::size_t member = 0; member < 20; ++member)
        {
            network.members[member]->Join(network.now);
            network.SendOf(member);
        }
        network.RunUntil(network.now + 300 * SECOND);
        ASSERT_LE(network.Applied(), capacity) << "once all have heard of all";
        for (std::size_t member = 0; member < 20; ++member)
        {
            const auto access = network.members[member]->Read()["access"].get<Rate>();
            ASSERT_TRUE(network.members[member]->HasLease());
            ASSERT_GE(*network.members[member]->Budget(), std::min(access, capacity / 20) * 4 / 5)
                << "its part, or what it can use, within the threshold";
        }
    }
}
