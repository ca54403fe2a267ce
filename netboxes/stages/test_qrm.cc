// SPDX-License-Identifier: GPL-2.0-or-later
#include "qrm.h"

#include "test_frames.h"

#include <gtest/gtest.h>

#include <limits>

using namespace netboxit;
using namespace netboxit::stages;
using namespace netboxit::stages::testing;

namespace
{

constexpr std::int64_t MS = 1'000'000;
constexpr std::int64_t SECOND = 1000 * MS;
constexpr double RATE = 20e6; ///< bit/s
constexpr std::uint32_t PACKET = 1000;
/// Of a share of `rate` in the RTT of the tests, packets.
constexpr double PacketsOf(double rate)
{
    return rate / 8 * 0.1 / PACKET;
}

Json With(const Json& changed)
{
    Json settings{{"rate", RATE}, {"tolerance", 1}, {"rtt", 0.1}};
    settings.update(changed);
    return settings;
}

const Json BUCKET = Json::object();
const Json RESET{{"police", "reset"}};

class QrmTest : public ::testing::Test
{
  protected:
    void Make(const Json& changed)
    {
        qrm.emplace(With(changed));
    }

    /// So many of a number of packets of a node pass at once.
    int Enter(std::uint32_t node, int packets, int version = 4)
    {
        auto& frame = version == 4 ? ipv4 : ipv6;
        WriteSource(frame, node);
        int passed = 0;
        for (int packet = 0; packet < packets; ++packet)
        {
            passed += qrm->Entering(frame, ReadHeaders(frame), now) ? 1 : 0;
        }
        return passed;
    }

    /// A node sends so many packets in each interval of 10 ms for a time. The rate that passes, bit/s.
    double Flood(std::uint32_t node, int packets, std::int64_t time)
    {
        int passed = 0;
        for (const auto end = now + time; now < end; now += 10 * MS)
        {
            passed += Enter(node, packets);
        }
        return passed * PACKET * 8e9 / static_cast<double>(time);
    }

    Json Read() const
    {
        return qrm->Read(now);
    }

    Json ReadNode(const char* address) const
    {
        return Read()["by_node"][address];
    }

    std::int64_t now{};
    Frame ipv4{BuildUdp(0, PACKET)};
    Frame ipv6{BuildUdp(0, PACKET, 6)};
    std::optional<Qrm> qrm{std::in_place, With(BUCKET)};
};

} // namespace

TEST_F(QrmTest, ANodeMaySendItsBudgetTimesItsRttAtOnce)
{
    for (const auto& police : {BUCKET, RESET})
    {
        Make(police);
        EXPECT_EQ(Enter(1, 1000), PacketsOf(RATE));
        now += 100 * MS;
        EXPECT_EQ(Enter(1, 1000), PacketsOf(RATE));
        EXPECT_EQ(Read()["passed"], 2 * PacketsOf(RATE));
        EXPECT_EQ(Read()["dropped"], 2000 - 2 * PacketsOf(RATE));
        EXPECT_EQ(Read()["dropped_bytes"], Read()["dropped"].get<int>() * 1000);
    }
}

TEST_F(QrmTest, TheToleranceIsAFactorOfTheBudget)
{
    for (const auto& police : {BUCKET, RESET})
    {
        Make(police);
        qrm->Set(With({{"tolerance", 1.1}, {"police", police.value("police", "bucket")}}), now);
        EXPECT_EQ(Enter(1, 1000), 1.1 * PacketsOf(RATE));
    }
}

TEST_F(QrmTest, AnAttackerIsHeldAtItsShareAndTheOthersLoseNothing)
{
    for (const auto& police : {BUCKET, RESET})
    {
        Make(police);
        constexpr std::uint32_t ATTACKER = 5;
        int attacker = 0;
        // Each of five nodes has 4 Mbit/s, five packets in 10 ms; the attacker sends five times as much as the link can.
        for (std::uint32_t node = 1; node <= ATTACKER; ++node)
        {
            Enter(node, 1); // all are active from the beginning
        }
        for (const auto end = now + 20 * SECOND; now < end;)
        {
            now += 10 * MS;
            attacker += Enter(ATTACKER, 125);
            for (std::uint32_t node = 1; node < ATTACKER; ++node)
            {
                ASSERT_EQ(Enter(node, 5), 5) << node << ' ' << now;
            }
        }
        EXPECT_NEAR(attacker * PACKET * 8 / 20.0, RATE / 5, 0.05 * RATE / 5);
        EXPECT_EQ(Read()["nodes"], 5);
        EXPECT_EQ(Read()["share"], RATE / 5);
        EXPECT_EQ(ReadNode("10.0.0.1"), Json()); // nodes of these tests are 0.0.0.1 and so on
        EXPECT_EQ(ReadNode("0.0.0.1")["dropped"], 0);
        EXPECT_EQ(ReadNode("0.0.0.5")["budget"], RATE / 5);
    }
}

TEST_F(QrmTest, ABucketHasNoIntervalWithMoreThanBudgetTimesRttAndRateAndAPacket)
{
    // The source's counter passes B twice where an RTT ends: "Theorem 2 does not cover fixed windows that are reset".
    for (const bool isBucket : {true, false})
    {
        Make(isBucket ? BUCKET : RESET);
        EXPECT_EQ(Enter(1, 1), 1);
        now += 99 * MS;
        int passed = Enter(1, 1000);
        now += MS;
        passed += Enter(1, 1000);
        const auto allowed = PacketsOf(RATE) + PacketsOf(RATE) / 100; // and what the rate adds in 1 ms
        EXPECT_NEAR(passed, isBucket ? allowed : 2 * PacketsOf(RATE), 1) << isBucket;
    }
}

TEST_F(QrmTest, SharesBelowAPacketInAnRttHoldWithABucket)
{
    Make({{"rate", 40e3}, {"nodes", 16}}); // a share of 1250 bytes/s: 125 in an RTT
    for (std::uint32_t node = 2; node <= 4; ++node)
    {
        Enter(node, 1);
    }
    double rate = 0;
    for (int second = 0; second < 60; ++second)
    {
        rate += Flood(1, 1, SECOND) / 60;
        for (std::uint32_t node = 2; node <= 4; ++node)
        {
            Enter(node, 1);
        }
    }
    EXPECT_NEAR(rate, 10e3, 500);
}

TEST_F(QrmTest, SharesFollowTheNumberOfActiveNodes)
{
    Enter(1, 1);
    EXPECT_EQ(Read()["share"], RATE);
    now += 5 * SECOND;
    Enter(2, 1);
    Enter(3, 1, 6);
    EXPECT_EQ(Read()["share"], RATE / 3);
    now += 5 * SECOND;
    Enter(2, 1);
    EXPECT_EQ(Read()["nodes"], 3); // not longer than 10 s yet
    now += MS;
    Enter(2, 1);
    EXPECT_EQ(Read()["nodes"], 2);
    now += 5 * SECOND;
    Enter(2, 1);
    EXPECT_EQ(Read()["nodes"], 1);
    EXPECT_EQ(Read()["share"], RATE);
    EXPECT_EQ(ReadNode("0.0.0.2")["passed"], 4);
}

TEST_F(QrmTest, WhatNodesGetTogetherStaysTheRateWhileNodesComeAndGo)
{
    Make({{"idle", 0.5}, {"rtt", 0.01}});
    double passed = 0;
    // From one to twenty nodes and back, each with more than the link can take.
    for (int step = 0; step < 40; ++step)
    {
        const auto nodes = static_cast<std::uint32_t>(step < 20 ? step + 1 : 40 - step);
        for (int tick = 0; tick < 50; ++tick, now += 10 * MS)
        {
            for (std::uint32_t node = 1; node <= nodes; ++node)
            {
                passed += Enter(node, 30);
            }
        }
    }
    const double link = RATE / 8 / PACKET * 20; // packets in 20 s
    EXPECT_LE(passed, link + PacketsOf(RATE) / 10 * 20);
    EXPECT_GE(passed, 0.9 * link); // nodes that left have shares for half a second
}

TEST_F(QrmTest, ANodeGetsTheShareThatItHadAtEachTime)
{
    Make({{"rate", 80e3}, {"rtt", 100}, {"idle", 1000}}); // so long an RTT that the depth cuts nothing
    Enter(2, 1);
    EXPECT_EQ(Enter(1, 1000), 500); // 5 kB/s in 100 s
    now += 4 * SECOND;
    for (std::uint32_t node = 3; node <= 10; ++node)
    {
        Enter(node, 1);
    }
    now += SECOND;
    EXPECT_EQ(Enter(1, 1000), 21); // 4 s with a half, and 1 s with a tenth of 10 kB/s
}

TEST_F(QrmTest, BudgetsAreOfNodesAndTheOthersShareTheRest)
{
    Make({{"budgets", {{"0.0.0.1", 10e6}, {"fd00::2", 4e6}}}});
    EXPECT_EQ(Enter(1, 1000), PacketsOf(10e6));
    EXPECT_NEAR(Enter(2, 1000, 6), PacketsOf(4e6), 1);
    Enter(4, 1);
    EXPECT_EQ(Enter(3, 1000), 38); // 37.5: a packet passes while anything is left
    EXPECT_EQ(Read()["share"], 3e6);
    EXPECT_EQ(Read()["budgeted"], 14e6);
    EXPECT_EQ(Read()["nodes"], 4);
    EXPECT_EQ(ReadNode("fd00::2")["budget"], 4e6);
}

TEST_F(QrmTest, WhereBudgetsLeaveNothingOnlyTheirNodesSend)
{
    for (const auto* police : {"bucket", "reset"})
    {
        Make({{"police", police}, {"budgets", {{"0.0.0.1", RATE}, {"0.0.0.2", 0}}}});
        EXPECT_EQ(Enter(1, 1000), PacketsOf(RATE));
        EXPECT_EQ(Enter(2, 1000), 0);
        EXPECT_EQ(Enter(3, 1000), 0);
        now += 60 * SECOND;
        EXPECT_EQ(Enter(3, 1000), 0);
        EXPECT_EQ(Read()["share"], 0);
    }
    // More than the rate: what an allocator says is not corrected.
    Make({{"budgets", {{"0.0.0.1", 2 * RATE}}}});
    EXPECT_EQ(Enter(1, 1000), 2 * PacketsOf(RATE));
}

TEST_F(QrmTest, NewBudgetsTakeEffectAtOnceAndKeepWhatNodesHave)
{
    const auto budgets = [](const Json& said) { return With({{"budgets", said}}); };
    qrm->Set(budgets({{"0.0.0.1", 10e6}, {"0.0.0.2", 10e6}}), now);
    EXPECT_EQ(Enter(1, 1000), PacketsOf(10e6));
    EXPECT_EQ(Enter(2, 1), 1);
    now += 10 * MS;
    qrm->Set(budgets({{"0.0.0.1", 15e6}, {"0.0.0.2", 2e6}}), now);
    EXPECT_NEAR(Enter(1, 1000), PacketsOf(1e6), 1); // what 10 Mbit/s gave in 10 ms
    EXPECT_EQ(Enter(2, 1000), PacketsOf(2e6));      // cut to its depth
    now += 10 * MS;
    EXPECT_NEAR(Enter(1, 1000), PacketsOf(1.5e6), 1);
    // Without a budget it has a share, and still no more tokens than it had.
    qrm->Set(budgets({{"0.0.0.2", 2e6}}), now);
    EXPECT_LE(Enter(1, 1000), 1);
    EXPECT_EQ(Read()["share"], 18e6);
    now += 100 * MS;
    EXPECT_NEAR(Enter(1, 1000), PacketsOf(18e6), 1);
    EXPECT_EQ(Read()["nodes"], 2);
    EXPECT_EQ(ReadNode("0.0.0.1")["passed"].get<int>() + ReadNode("0.0.0.1")["dropped"].get<int>(), 5000);
    // An active node gets a budget.
    qrm->Set(budgets({{"0.0.0.1", 1e6}}), now);
    EXPECT_EQ(Read()["share"], 19e6);
    EXPECT_EQ(Read()["nodes"], 2);
    qrm->Set(budgets(nullptr), now);
    EXPECT_EQ(Read()["share"], RATE / 2);
}

TEST_F(QrmTest, MoreNodesThanAreToldApartAreOneToIt)
{
    Make({{"nodes", 4}});
    for (std::uint32_t node = 1; node <= 100; ++node)
    {
        Enter(node, 1);
    }
    EXPECT_EQ(Read()["nodes"], 5); // four and the others
    EXPECT_EQ(Read()["share"], RATE / 5);
    EXPECT_EQ(Read()["others"], 96);
    now += SECOND;
    EXPECT_EQ(Enter(1, 1000), PacketsOf(RATE / 5));
    EXPECT_EQ(Enter(50, 1000), PacketsOf(RATE / 5));
    EXPECT_EQ(Enter(51, 1000), 0); // the same share
    now += 11 * SECOND;
    EXPECT_EQ(Enter(51, 1000), PacketsOf(RATE)); // alone by now
    EXPECT_EQ(Read()["nodes"], 1);
}

TEST_F(QrmTest, AFloodOfForgedAddressesIsBoundedAndSparesNodesWithBudgets)
{
    Make({{"nodes", 1000}, {"budgets", {{"0.0.0.1", 10e6}}}});
    EXPECT_EQ(Enter(1, 1), 1);
    double forged = 0;
    for (std::uint32_t address = 10; address < 100'010; ++address)
    {
        forged += Enter(address, 1);
        now += address % 100 == 0 ? 10 * MS : 0;
    }
    EXPECT_EQ(Read()["nodes"], 1002);
    EXPECT_EQ(Read()["by_node"].size(), Qrm::LISTED);
    // 10 s of flood: at first one packet from each address, then the share of the others.
    EXPECT_LE(forged, 1000 + PacketsOf(10e6) + PacketsOf(10e6 / 1001) * 100);
    EXPECT_EQ(Enter(1, 1000), PacketsOf(10e6));
}

TEST_F(QrmTest, ANodeThatWasSilentIsNotForgottenBeforeItHadAllAnyway)
{
    for (const auto* police : {"bucket", "reset"})
    {
        Make({{"police", police}, {"idle", 1e-3}, {"budgets", {{"0.0.0.2", 19e6}}}});
        int passed = 0;
        for (const auto end = now + 5 * SECOND; now < end; now += 2 * MS)
        {
            passed += Enter(1, 20);
        }
        EXPECT_NEAR(passed, PacketsOf(1e6) * 51, 60); // 1 Mbit/s with at most 12.5 packets at once, and not 12.5 each 2 ms
    }
}

TEST_F(QrmTest, TheRttIsTheSmallestOneOfTheNodesConnections)
{
    Make({{"rtt", 1.0}});
    const auto connect = [this](std::uint32_t node, std::uint16_t port, std::int64_t rtt)
    {
        auto syn = Build({.source = node, .sourcePort = port, .sequence = 9, .flags = "S"});
        qrm->Entering(syn, ReadHeaders(syn), now);
        now += rtt;
        auto answer = Build({.source = 0x0a000002,
                             .destination = node,
                             .sourcePort = 80,
                             .destinationPort = port,
                             .acknowledgement = 10,
                             .flags = "SA"});
        EXPECT_TRUE(qrm->Leaving(answer, ReadHeaders(answer), now));
    };
    connect(1, 1, 300 * MS);
    EXPECT_DOUBLE_EQ(ReadNode("0.0.0.1")["rtt"].get<double>(), 0.3);
    connect(1, 2, 100 * MS);
    connect(1, 3, 200 * MS);
    EXPECT_DOUBLE_EQ(ReadNode("0.0.0.1")["rtt"].get<double>(), 0.1);
    now += SECOND;
    EXPECT_EQ(Enter(1, 2000), PacketsOf(RATE));
    EXPECT_EQ(Enter(2, 2000), 10 * PacketsOf(RATE / 2)); // not measured: 1 s
    EXPECT_EQ(ReadNode("0.0.0.2")["rtt"], Json());
}

TEST_F(QrmTest, FragmentsAndIpsecAreTheirSendersAndOtherFramesPass)
{
    Make({{"budgets", {{"0.0.0.1", 0}}}});
    auto fragment = BuildUdp(1, 500);
    fragment[ETHERNET_HEADER + 7] = 9;
    auto encrypted = BuildUdp(1, 500);
    encrypted[ETHERNET_HEADER + 9] = 50;
    auto tagged = BuildUdp(1, 500);
    tagged.insert(tagged.begin() + 12, {0x81, 0, 0, 5});
    for (auto* frame : {&fragment, &encrypted, &tagged})
    {
        EXPECT_FALSE(qrm->Entering(*frame, ReadHeaders(*frame), now));
    }
    Frame arp(60);
    EXPECT_TRUE(qrm->Entering(arp, ReadHeaders(arp), now));
    EXPECT_EQ(Read()["unmanaged"], 1);
    EXPECT_EQ(Read()["dropped"], 3);
}

TEST_F(QrmTest, RefusesSettingsThatMakeNoSenseAndThenKeepsItsOwn)
{
    constexpr auto NO_NUMBER = std::numeric_limits<double>::quiet_NaN();
    for (const auto& changed : {Json{{"rate", 0}},
                                Json{{"rate", NO_NUMBER}},
                                Json{{"rate", 1e16}},
                                Json{{"police", "token"}},
                                Json{{"tolerance", 0.99}},
                                Json{{"tolerance", NO_NUMBER}},
                                Json{{"rtt", 0}},
                                Json{{"rtt", 101}},
                                Json{{"rtt_window", 0}},
                                Json{{"idle", 0}},
                                Json{{"nodes", 0}},
                                Json{{"nodes", 1.5}},
                                Json{{"nodes", 16'385}},
                                Json{{"budgets", 5}},
                                Json{{"budgets", Json::array()}},
                                Json{{"budgets", {{"10.0.0", 1}}}},
                                Json{{"budgets", {{"10.0.0.1/8", 1}}}},
                                Json{{"budgets", {{"fr1", 1}}}},
                                Json{{"budgets", {{"10.0.0.1", -1}}}},
                                Json{{"budgets", {{"10.0.0.1", NO_NUMBER}}}},
                                Json{{"budgets", {{"10.0.0.1", nullptr}}}},
                                Json{{"budgets", {{"fd00::1", 1}, {"fd00:0::1", 1}}}}})
    {
        EXPECT_THROW(Qrm{With(changed)}, std::invalid_argument) << changed;
        EXPECT_THROW(qrm->Set(With(changed), now), std::invalid_argument) << changed;
    }
    EXPECT_THROW(Qrm{Json::object()}, Json::exception);
    EXPECT_EQ(Enter(1, 1000), PacketsOf(RATE));
}

TEST_F(QrmTest, AllBudgetsMayChangeAtOnce)
{
    for (const auto* network : {"10.1.", "10.2.", "10.3."})
    {
        auto budgets = Json::object();
        for (unsigned node = 0; node < Qrm::LARGEST_BUDGETS; ++node)
        {
            budgets[network + std::to_string(node / 256) + '.' + std::to_string(node % 256)] = 1000;
        }
        qrm->Set(With({{"budgets", budgets}, {"nodes", Qrm::LARGEST_NODES}}), now);
        for (std::uint32_t node = 0; node < 20'000; ++node)
        {
            Enter(node, 1);
        }
        EXPECT_EQ(Read()["budgeted"], 1000.0 * Qrm::LARGEST_BUDGETS);
        EXPECT_EQ(Read()["nodes"], Qrm::LARGEST_NODES + 1);
        budgets["10.4.0.0"] = 1;
        EXPECT_THROW(qrm->Set(With({{"budgets", budgets}}), now), std::invalid_argument);
    }
}
