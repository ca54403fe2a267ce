// SPDX-License-Identifier: GPL-2.0-or-later
#include "green.h"

#include "test_frames.h"

#include "ecn.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace netboxit;
using namespace netboxit::stages;
using namespace netboxit::stages::testing;

namespace
{

constexpr std::int64_t MS = 1'000'000;
constexpr std::int64_t SECOND = 1000 * MS;
constexpr double RATE = 10e6; ///< bit/s
constexpr std::uint32_t MSS = 1000;

Json With(const Json& changed)
{
    Json settings{{"rate", RATE}};
    settings.update(changed);
    return settings;
}

/// The formula of the source.
double Expected(int flows, double rtt, double k = 1, double mss = MSS)
{
    return std::pow(flows * mss * 8 * k / (RATE * rtt), 2);
}

class GreenTest : public ::testing::Test
{
  protected:
    void Make(const Json& changed, std::uint64_t seed = 1)
    {
        green.emplace(With(changed), seed);
    }

    /// A segment of a flow; whether it passes.
    bool Send(std::uint16_t port, std::uint32_t payload = MSS, std::uint8_t ecn = 0)
    {
        frame = payload == MSS ? full : Build({.payload = payload});
        frame[ETHERNET_HEADER + 1] = ecn;
        frame[TransportAt(frame)] = static_cast<std::uint8_t>(port >> 8);
        frame[TransportAt(frame) + 1] = static_cast<std::uint8_t>(port);
        const auto sum = OnesSum(Bytes(frame).subspan(ETHERNET_HEADER, 20));
        const bool passes = green->Entering(frame, ReadHeaders(frame), now);
        EXPECT_EQ(OnesSum(Bytes(frame).subspan(ETHERNET_HEADER, 20)), sum); // also of one with a mark
        return passes;
    }

    void Acknowledge(std::uint16_t port)
    {
        auto ack = Build({.source = 0x0a000002, .destination = 0x0a000001, .sourcePort = 80, .destinationPort = port});
        EXPECT_TRUE(green->Leaving(ack, ReadHeaders(ack), now));
    }

    /// So many flows of an RTT, by their handshakes.
    void Open(int flows, std::int64_t rtt)
    {
        for (int flow = 1; flow <= flows; ++flow)
        {
            auto syn = Build({.sourcePort = static_cast<std::uint16_t>(flow), .sequence = 0xffffffff, .flags = "S"});
            EXPECT_TRUE(green->Entering(syn, ReadHeaders(syn), now));
        }
        now += rtt;
        for (int flow = 1; flow <= flows; ++flow)
        {
            Acknowledge(static_cast<std::uint16_t>(flow));
        }
    }

    /// Each flow sends a segment in turn. The part that is dropped.
    double Dropped(int flows, int segments, std::int64_t interval = MS / 10)
    {
        int dropped = 0;
        for (int segment = 0; segment < segments; ++segment, now += interval)
        {
            dropped += Send(static_cast<std::uint16_t>(1 + segment % flows)) ? 0 : 1;
        }
        return static_cast<double>(dropped) / segments;
    }

    Json Read() const
    {
        return green->Read(now);
    }

    std::int64_t now{};
    const Frame full{Build({.payload = MSS})};
    Frame frame;
    std::optional<Green> green{std::in_place, With(Json::object()), 1};
};

} // namespace

TEST_F(GreenTest, DropsWithTheProbabilityOfTheFormula)
{
    // The DSL scenario of the source of PINK, and one of each factor.
    for (const auto& [flows, rtt, k] : {std::tuple{16, 107 * MS, 1.0}, {32, 107 * MS, 1.0}, {64, 107 * MS, 0.93}, {32, 214 * MS, 1.22}})
    {
        Make({{"k", k}});
        Open(flows, rtt);
        Dropped(flows, flows, 0); // all are counted
        constexpr int SEGMENTS = 40'000;
        const auto expected = Expected(flows, static_cast<double>(rtt) / 1e9, k);
        // Four standard deviations of a binomial distribution.
        EXPECT_NEAR(Dropped(flows, SEGMENTS), expected, 4 * std::sqrt(expected * (1 - expected) / SEGMENTS)) << flows;
        EXPECT_EQ(Read()["flows"], flows);
        EXPECT_EQ(Read()["mss"], MSS);
        EXPECT_EQ(Read()["judged"], SEGMENTS + flows);
        EXPECT_EQ(Read()["certain"], 0);
    }
}

TEST_F(GreenTest, EachFlowHasTheProbabilityOfItsOwnRtt)
{
    Open(1, 100 * MS);
    auto syn = Build({.sourcePort = 2, .sequence = 0xffffffff, .flags = "S"});
    green->Entering(syn, ReadHeaders(syn), now);
    now += 50 * MS;
    Acknowledge(2);
    green->Set(With({{"mss", 25'000}}), now);
    Send(1);
    Send(2);
    constexpr int SEGMENTS = 20'000;
    int dropped[2]{};
    for (int segment = 0; segment < SEGMENTS; ++segment, now += MS / 10)
    {
        dropped[0] += Send(1) ? 0 : 1;
        dropped[1] += Send(2) ? 0 : 1;
    }
    for (const int flow : {0, 1})
    {
        const auto expected = Expected(2, flow == 0 ? 0.1 : 0.05, 1, 25'000);
        EXPECT_NEAR(dropped[flow], SEGMENTS * expected, 4 * std::sqrt(SEGMENTS * expected * (1 - expected))) << flow;
    }
}

TEST_F(GreenTest, TheSameSeedMakesTheSameChoices)
{
    std::vector<std::vector<bool>> runs;
    for (const std::uint64_t seed : {7, 7, 8})
    {
        Make(Json::object(), seed);
        now = 0;
        Open(32, 107 * MS);
        auto& run = runs.emplace_back();
        for (int segment = 0; segment < 3000; ++segment)
        {
            run.push_back(Send(static_cast<std::uint16_t>(1 + segment % 32)));
        }
    }
    EXPECT_EQ(runs[0], runs[1]);
    EXPECT_NE(runs[0], runs[2]);
}

TEST_F(GreenTest, FlowsOfTheLastPeriodOrOfThisOneCount)
{
    Open(30, 107 * MS);
    now = SECOND;
    Dropped(20, 20, 0);
    EXPECT_EQ(Read()["flows"], 20);
    now += SECOND;
    Dropped(5, 5, 0);
    EXPECT_EQ(Read()["flows"], 20); // five so far
    now += SECOND;
    EXPECT_EQ(Read()["flows"], 5);
    Dropped(30, 30, 0);
    EXPECT_EQ(Read()["flows"], 30); // more than in the last one
    now += 5 * SECOND;
    EXPECT_EQ(Read()["flows"], 0);
    EXPECT_EQ(Read()["mss"], 0);
    Send(1, 10);
    EXPECT_EQ(Read()["flows"], 1);
    EXPECT_EQ(Read()["mss"], 10);
}

TEST_F(GreenTest, AFlowThatSendsOftenCountsOnceInAPeriod)
{
    Open(1, 107 * MS);
    for (int segment = 0; segment < 100; ++segment)
    {
        Send(1);
    }
    EXPECT_EQ(Read()["flows"], 1);
}

TEST_F(GreenTest, OnlySegmentsWithPayloadOfMeasuredFlowsAreJudged)
{
    Make({{"mss", 65'535}, {"rate", 1000}});
    EXPECT_TRUE(Send(9)); // no RTT
    EXPECT_EQ(Read()["no_rtt"], 1);
    Open(1, 100 * MS); // SYNs pass
    EXPECT_TRUE(Send(1, 0)); // an ACK
    EXPECT_FALSE(Send(1, 1));
    auto udp = BuildUdp(1, 500);
    EXPECT_TRUE(green->Entering(udp, ReadHeaders(udp), now));
    auto fragment = Build({.sourcePort = 1, .payload = 100});
    fragment[ETHERNET_HEADER + 6] = 0x20;
    EXPECT_TRUE(green->Entering(fragment, ReadHeaders(fragment), now));
    Frame arp(60);
    EXPECT_TRUE(green->Entering(arp, ReadHeaders(arp), now));
    EXPECT_EQ(Read()["unmanaged"], 2);
    EXPECT_EQ(Read()["judged"], 1);
    EXPECT_EQ(Read()["certain"], 1);
    EXPECT_EQ(Read()["dropped"], 1);
}

TEST_F(GreenTest, MarksWhereTheTransportIsCapableOfEcn)
{
    for (const bool ecn : {false, true})
    {
        Make({{"ecn", ecn}});
        Open(64, 107 * MS);
        Dropped(64, 64, 0);
        int marked = 0;
        for (int segment = 0; segment < 2000; ++segment)
        {
            const auto port = static_cast<std::uint16_t>(1 + segment % 64);
            const bool passes = Send(port, MSS, static_cast<std::uint8_t>(Ecn::Ect0));
            EXPECT_TRUE(passes || !ecn);
            marked += EcnOf(frame) == Ecn::Ce ? 1 : 0;
        }
        const double expected = ecn ? Expected(64, 0.107) : 0;
        EXPECT_NEAR(marked, 2000 * expected, 4 * std::sqrt(2000 * expected * (1 - expected)));
        EXPECT_EQ(Read()["marked"], marked);
    }
    EXPECT_GT(Dropped(64, 1000), 0.1); // not capable
    // Where the probability is 1 it drops all.
    green->Set(With({{"ecn", true}, {"rate", 1000}}), now);
    EXPECT_FALSE(Send(1, MSS, static_cast<std::uint8_t>(Ecn::Ect0)));
}

TEST_F(GreenTest, TheRttIsThatOfBothHalvesOfThePath)
{
    // 80 ms between the stage and the node that sends, 20 ms between it and the remote end.
    auto syn = Build({.sourcePort = 1, .sequence = 0xffffffff, .flags = "S"});
    green->Entering(syn, ReadHeaders(syn), now);
    now += 20 * MS;
    auto answer = Build({.source = 0x0a000002, .destination = 0x0a000001, .sourcePort = 80, .destinationPort = 1, .flags = "SA"});
    green->Leaving(answer, ReadHeaders(answer), now);
    now += 80 * MS;
    green->Set(With({{"mss", 25'000}}), now);
    Send(1);
    constexpr int SEGMENTS = 40'000;
    const double expected = Expected(1, 0.1, 1, 25'000);
    EXPECT_NEAR(Dropped(1, SEGMENTS), expected, 4 * std::sqrt(expected * (1 - expected) / SEGMENTS));
}

TEST_F(GreenTest, AnRttOfZeroMakesAProbabilityOfOne)
{
    Open(1, 0);
    EXPECT_FALSE(Send(1));
    EXPECT_EQ(Read()["certain"], 1);
}

TEST_F(GreenTest, NewSettingsKeepFlowsAndCounts)
{
    Open(32, 107 * MS);
    Dropped(32, 32, 0);
    green->Set(With({{"rate", 2 * RATE}, {"sampling", 2}}), now);
    EXPECT_EQ(Read()["flows"], 32);
    constexpr int SEGMENTS = 20'000;
    const auto expected = Expected(32, 0.107) / 4;
    EXPECT_NEAR(Dropped(32, SEGMENTS), expected, 4 * std::sqrt(expected * (1 - expected) / SEGMENTS));
}

TEST_F(GreenTest, AFloodOfConnectionsStaysBounded)
{
    for (std::uint32_t flow = 0; flow < 70'000; ++flow)
    {
        auto segment = Build({.source = flow, .payload = 10});
        EXPECT_TRUE(green->Entering(segment, ReadHeaders(segment), now));
    }
    EXPECT_EQ(Read()["evicted"], 70'000 - TcpFlows::CAPACITY);
    EXPECT_EQ(Read()["no_rtt"], 70'000);
    EXPECT_EQ(Read()["flows"], 0); // and drops no more of others
}

TEST_F(GreenTest, RefusesSettingsThatMakeNoSenseAndThenKeepsItsOwn)
{
    constexpr auto NO_NUMBER = std::numeric_limits<double>::quiet_NaN();
    for (const auto& changed : {Json{{"rate", 0}},
                                Json{{"rate", -1}},
                                Json{{"rate", NO_NUMBER}},
                                Json{{"rate", 1e16}},
                                Json{{"k", 0}},
                                Json{{"k", 11}},
                                Json{{"sampling", 0}},
                                Json{{"sampling", 1e9}},
                                Json{{"mss", 0}},
                                Json{{"mss", 70'000}},
                                Json{{"rtt_window", -1}},
                                Json{{"ecn", 1}}})
    {
        EXPECT_THROW(Green(With(changed), 1), std::invalid_argument) << changed;
        EXPECT_THROW(green->Set(With(changed), now), std::invalid_argument) << changed;
    }
    EXPECT_THROW(Green(Json::object(), 1), Json::exception);
}
