// SPDX-License-Identifier: GPL-2.0-or-later
#include "pink.h"

#include "test_frames.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

using namespace netboxit;
using namespace netboxit::stages;
using namespace netboxit::stages::testing;

namespace
{

constexpr std::int64_t MS = 1'000'000;
constexpr std::int64_t SECOND = 1000 * MS;
constexpr std::int64_t RTT = 100 * MS;
constexpr double RATE = 10e6; ///< bit/s
constexpr std::uint32_t MSS = 1000;
constexpr std::uint16_t MSS_FIELD = 1012; ///< of which 12 are timestamps
/// Of rate, and RTT and the time of a pair, with c = 1, bytes.
constexpr std::uint32_t PRODUCT = 127'000;
/// Windows are in pairs of segments: a share is met within one.
constexpr std::uint32_t PAIR = 2 * MSS;
/// Of a byte in a window, bit/s.
constexpr double BITS_PER_WINDOW = RATE / PRODUCT;
/// The window of a receiver that takes 2 Mbit/s, in units of the scale.
constexpr std::uint32_t LIMITED = 25'344;

std::vector<std::uint8_t> SynOptions(std::optional<std::uint8_t> scale, std::uint16_t mss = MSS_FIELD)
{
    std::vector<std::uint8_t> options{2, 4, static_cast<std::uint8_t>(mss >> 8), static_cast<std::uint8_t>(mss)};
    options.insert(options.end(), {8, 10, 0, 0, 0, 1, 0, 0, 0, 0});
    if (scale)
    {
        options.insert(options.end(), {3, 3, *scale});
    }
    return options;
}

class PinkTest : public ::testing::Test
{
  protected:
    /// One connection of the node.
    struct Connection
    {
        std::uint16_t port;
        int version{4};
        std::optional<std::uint8_t> scale{7};
        std::uint32_t sequence{100}; ///< what the node sends next
    };

    static Json Settings(const Json& changed = {})
    {
        Json settings{{"rate", RATE}, {"exploitation", 1.0}, {"reallocation", "base"}, {"rtt_window", 10.0}, {"syn_guard", false}};
        settings["idle"] = nullptr; // as in the source
        settings.update(changed.is_null() ? Json::object() : changed);
        return settings;
    }

    void Make(const Json& changed)
    {
        pink.emplace(Settings(changed), std::array<std::uint64_t, 2>{1, 2});
    }

    void Enters(Frame frame)
    {
        const auto before = frame;
        EXPECT_TRUE(pink->Entering(frame, ReadHeaders(frame), now));
        EXPECT_EQ(frame, before);
    }

    /// The window field afterwards.
    std::uint16_t Leaves(Frame frame)
    {
        const auto before = frame;
        EXPECT_TRUE(pink->Leaving(frame, ReadHeaders(frame), now));
        EXPECT_EQ(TcpSum(frame), 0xffffu);
        const auto window = BigEndian16(frame, TransportAt(frame) + 14);
        EXPECT_LE(window, BigEndian16(before, TransportAt(before) + 14));
        return window;
    }

    static SegmentFrame ToRemote(const Connection& connection)
    {
        return {.version = connection.version, .sourcePort = connection.port, .sequence = connection.sequence};
    }

    static SegmentFrame ToNode(const Connection& connection)
    {
        return {.version = connection.version,
                .source = 0x0a000002,
                .destination = 0x0a000001,
                .sourcePort = 80,
                .destinationPort = connection.port,
                .acknowledgement = connection.sequence};
    }

    void SendsSyn(Connection& connection)
    {
        auto syn = ToRemote(connection);
        syn.flags = "S";
        syn.options = SynOptions(connection.scale);
        Enters(Build(syn));
        ++connection.sequence;
    }

    /// The window field of the SYN-ACK.
    std::uint16_t AcknowledgesSyn(const Connection& connection, std::uint16_t window = 65'535)
    {
        auto synAck = ToNode(connection);
        synAck.flags = "SA";
        synAck.sequence = 4'000'000'000;
        synAck.window = window;
        synAck.options = SynOptions(connection.scale);
        return Leaves(Build(synAck));
    }

    Connection Opens(std::uint16_t port, int version = 4, std::optional<std::uint8_t> scale = 7, std::int64_t rtt = RTT)
    {
        Connection connection{port, version, scale};
        SendsSyn(connection);
        now += rtt;
        AcknowledgesSyn(connection, 60'000);
        Enters(Build(ToRemote(connection)));
        return connection;
    }

    void SendsData(Connection& connection)
    {
        auto data = ToRemote(connection);
        data.payload = MSS;
        Enters(Build(data));
        connection.sequence += MSS;
    }

    /// The window that the node sees, bytes, in an ACK of all that it sent. `window` in bytes is what the remote end advertises.
    std::uint32_t Acknowledges(const Connection& connection, std::uint32_t window)
    {
        auto ack = ToNode(connection);
        ack.window = static_cast<std::uint16_t>(window >> connection.scale.value_or(0));
        ack.options = {1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 1};
        return std::uint32_t{Leaves(Build(ack))} << connection.scale.value_or(0);
    }

    std::uint32_t SendsAndIsAcknowledged(Connection& connection, std::uint32_t window, std::int64_t rtt = RTT)
    {
        SendsData(connection);
        now += rtt;
        return Acknowledges(connection, window);
    }

    Json Read() const
    {
        return pink->Read(now);
    }

    std::int64_t now{};
    std::optional<Pink> pink{std::in_place, Settings(), std::array<std::uint64_t, 2>{1, 2}};
};

constexpr std::uint32_t LARGE = 4'000'000;
constexpr std::uint32_t UNIT = 128; ///< of windows with scale 7

} // namespace

TEST_F(PinkTest, AFlowGetsTheBandwidthDelayProductDividedByFlows)
{
    auto first = Opens(1);
    EXPECT_NEAR(SendsAndIsAcknowledged(first, LARGE), PRODUCT, PAIR);
    auto second = Opens(2);
    auto third = Opens(3);
    auto fourth = Opens(4);
    for (auto* connection : {&first, &second, &third, &fourth})
    {
        EXPECT_NEAR(SendsAndIsAcknowledged(*connection, LARGE), PRODUCT / 4, PAIR);
    }
    EXPECT_EQ(Read()["flows"], 4);
    EXPECT_EQ(Read()["good"], 4);
    EXPECT_EQ(Read()["share"], RATE / 4);
}

TEST_F(PinkTest, FlowsAreListedWithWhatTheyHave)
{
    auto first = Opens(1);
    SendsAndIsAcknowledged(first, LARGE);
    auto limited = Opens(2, 6);
    SendsAndIsAcknowledged(limited, LIMITED);
    const auto window = SendsAndIsAcknowledged(first, LARGE);
    Opens(3); // sends nothing
    const auto listed = Read()["by_flow"];
    ASSERT_EQ(listed.size(), 3U);
    EXPECT_EQ(listed.at("10.0.0.1:1 10.0.0.2:80"), (Json{{"good", true}, {"rtt", 0.1}, {"advertised", LARGE / UNIT * UNIT}, {"window", window}}));
    const auto& ofLimited = listed.at("[fd00::a00:1]:2 [fd00::a00:2]:80");
    EXPECT_EQ(ofLimited.at("good"), false);
    EXPECT_EQ(ofLimited.at("window"), LIMITED);
    EXPECT_TRUE(listed.at("10.0.0.1:3 10.0.0.2:80").at("window").is_null());
    for (std::uint16_t port = 100; port < 200; ++port)
    {
        Opens(port);
    }
    EXPECT_EQ(Read()["by_flow"].size(), Pink::LISTED);
    EXPECT_TRUE(Read()["by_flow"].contains("10.0.0.1:199 10.0.0.2:80"));
    EXPECT_FALSE(Read()["by_flow"].contains("10.0.0.1:1 10.0.0.2:80"));
}

/// As the connection by which iperf3 controls its others: an eighth of a line would be nobody's.
TEST_F(PinkTest, AFlowThatSendsNothingLeavesItsShareUntilItSends)
{
    pink.emplace(Json{{"rate", RATE}, {"exploitation", 1.0}});
    auto first = Opens(1);
    auto idle = Opens(2);
    SendsAndIsAcknowledged(idle, LARGE);
    for (int round = 0; round < 30; ++round) // of 3 s
    {
        SendsAndIsAcknowledged(first, LARGE);
        Acknowledges(idle, LARGE); // ACKs to the node carry no payload of its own
        Enters(Build(ToRemote(idle)));
    }
    EXPECT_NEAR(SendsAndIsAcknowledged(first, LARGE), PRODUCT, PAIR);
    EXPECT_EQ(Read()["flows"], 1);
    EXPECT_EQ(Read()["idle"], 1);
    EXPECT_EQ(Read()["incomplete"], 0);
    SendsData(idle);
    EXPECT_EQ(Read()["flows"], 2);
    EXPECT_EQ(Read()["idle"], 0);
    EXPECT_NEAR(SendsAndIsAcknowledged(first, LARGE), PRODUCT / 2, PAIR);
    now += 10 * SECOND;
    SendsAndIsAcknowledged(first, LARGE);
    EXPECT_EQ(Read()["idle"], 1);
    auto reset = ToRemote(idle);
    reset.flags = "R";
    Enters(Build(reset));
    EXPECT_EQ(Read()["idle"], 0);
    EXPECT_EQ(Read()["flows"], 1);
}

TEST_F(PinkTest, AFlowIsNotIdleBeforeTwoRoundTripTimes)
{
    Make({{"idle", 2.0}});
    constexpr std::int64_t LONG = 5 * SECOND;
    auto first = Opens(1, 4, 7, LONG);
    SendsAndIsAcknowledged(first, LARGE, LONG);
    auto second = Opens(2);
    SendsAndIsAcknowledged(second, LARGE);
    SendsData(first);
    for (int round = 0; round < 49; ++round)
    {
        SendsAndIsAcknowledged(second, LARGE);
    }
    EXPECT_EQ(Read()["flows"], 2);
    for (int round = 0; round < 80; ++round)
    {
        SendsAndIsAcknowledged(second, LARGE);
    }
    EXPECT_EQ(Read()["flows"], 1);
}

TEST_F(PinkTest, AsInTheSourceAFlowCountsWhileItLives)
{
    auto first = Opens(1);
    Opens(2); // sends nothing
    for (int round = 0; round < 100; ++round)
    {
        SendsAndIsAcknowledged(first, LARGE);
    }
    EXPECT_EQ(Read()["flows"], 2);
    pink->Set(Settings({{"idle", 1.0}}), now);
    SendsAndIsAcknowledged(first, LARGE);
    EXPECT_EQ(Read()["flows"], 1);
    pink->Set(Settings({{"idle", nullptr}}), now);
    EXPECT_EQ(Read()["flows"], 2);
}

TEST_F(PinkTest, ExploitationScalesTheWindow)
{
    Make({{"exploitation", 0.9}});
    auto connection = Opens(1);
    EXPECT_NEAR(SendsAndIsAcknowledged(connection, LARGE), 0.9 * PRODUCT, PAIR);
}

TEST_F(PinkTest, TheDefaultExploitationIsNinetyFivePercent)
{
    pink.emplace(Json{{"rate", RATE}});
    auto connection = Opens(1);
    EXPECT_NEAR(SendsAndIsAcknowledged(connection, LARGE), 0.95 * PRODUCT, PAIR);
}

TEST_F(PinkTest, ExactAccountingTakesTheHeadersOfTheFlowsSegments)
{
    Make({{"accounting", "exact"}});
    auto connection = Opens(1); // 1000 bytes of payload in 1052
    EXPECT_NEAR(SendsAndIsAcknowledged(connection, LARGE), PRODUCT * 1000.0 / 1052, PAIR);
    auto other = Opens(2, 6); // 1072 with IPv6
    EXPECT_NEAR(SendsAndIsAcknowledged(other, LARGE), PRODUCT / 2.0 * 1000 / 1072, PAIR);
}

TEST_F(PinkTest, NeverRaisesAWindow)
{
    auto connection = Opens(1);
    for (const auto window : {0U, 128U, 1280U, 64'000U, 124'928U})
    {
        EXPECT_EQ(SendsAndIsAcknowledged(connection, window), window);
    }
}

TEST_F(PinkTest, WindowsArePairsOfSegmentsWhoseMeanIsTheShare)
{
    // 127000/32 = 3969 bytes: two or four segments of 1000 in turn.
    std::vector<Connection> connections;
    for (std::uint16_t port = 1; port <= 32; ++port)
    {
        connections.push_back(Opens(port));
    }
    std::map<std::uint32_t, int> times;
    double sum = 0;
    constexpr int ACKS = 1000;
    for (int ack = 0; ack < ACKS; ++ack)
    {
        const auto window = SendsAndIsAcknowledged(connections[0], LARGE);
        const auto segments = window / MSS;
        ++times[segments];
        sum += segments * MSS;
    }
    EXPECT_EQ(times.size(), 2u); // each for some round-trip times
    EXPECT_EQ(times.count(2) + times.count(4), 2u);
    EXPECT_NEAR(sum / ACKS, PRODUCT / 32.0, 6.0 * PAIR / ACKS); // a turn's credit
    EXPECT_EQ(Read()["clamps"], 0);
}

TEST_F(PinkTest, WindowsTogetherAreTheLinksAtAnyTimeAndEachFlowHasItsTurn)
{
    std::vector<Connection> connections;
    for (std::uint16_t port = 1; port <= 32; ++port)
    {
        connections.push_back(Opens(port));
    }
    const auto send = [&](int rounds, std::map<std::uint16_t, double>& sums) {
        std::map<std::uint16_t, std::uint32_t> windows;
        for (int round = 0; round < rounds; ++round)
        {
            std::ranges::for_each(connections, [&](Connection& connection) { SendsData(connection); });
            now += RTT;
            for (const auto& connection : connections)
            {
                const auto window = Acknowledges(connection, LARGE) / MSS * MSS;
                windows[connection.port] = window;
                sums[connection.port] += window;
                double together = 0;
                std::ranges::for_each(windows, [&](const auto& entry) { together += entry.second; });
                if (round >= 10)
                {
                    EXPECT_NEAR(together, PRODUCT, 1.5 * PAIR); // half a pair, and one that was given back and not taken yet
                }
            }
        }
    };
    for (const double flows : {32.0, 20.0})
    {
        constexpr int ROUNDS = 1000;
        std::map<std::uint16_t, double> sums;
        send(ROUNDS, sums);
        for (const auto& [port, sum] : sums)
        {
            EXPECT_NEAR(sum / ROUNDS, PRODUCT / flows, PRODUCT / flows / 100) << port;
        }
        while (connections.size() > 20) // some of them with a pair more
        {
            auto reset = ToRemote(connections.back());
            reset.flags = "R";
            Enters(Build(reset));
            connections.pop_back();
        }
    }
}

TEST_F(PinkTest, AFlowGetsTwoSegmentsAtLeastAndTheClampIsCounted)
{
    std::vector<Connection> connections;
    for (std::uint16_t port = 1; port <= 100; ++port)
    {
        connections.push_back(Opens(port));
    }
    const auto before = Read()["clamps"].get<int>();
    EXPECT_EQ(SendsAndIsAcknowledged(connections[0], LARGE), 2048u); // two segments, rounded up to the unit of the scale
    EXPECT_EQ(Read()["clamps"], before + 1);
    EXPECT_EQ(SendsAndIsAcknowledged(connections[0], 1024), 1024u); // never raised to them
}

TEST_F(PinkTest, AScaleWithUnitsAboveASegmentNeverMakesAZeroWindow)
{
    std::vector<Connection> connections;
    for (std::uint16_t port = 1; port <= 100; ++port)
    {
        connections.push_back(Opens(port, 4, 14));
    }
    EXPECT_EQ(SendsAndIsAcknowledged(connections[0], 1U << 24), 1U << 14);
}

TEST_F(PinkTest, WithoutScaleTheFieldIsInBytes)
{
    auto connection = Opens(1, 4, std::nullopt);
    auto other = Opens(2, 4, std::nullopt);
    auto third = Opens(3, 4, std::nullopt);
    EXPECT_NEAR(SendsAndIsAcknowledged(connection, 65'535), PRODUCT / 3, PAIR);
    EXPECT_NEAR(SendsAndIsAcknowledged(other, 65'535), PRODUCT / 3, PAIR);
    EXPECT_NEAR(SendsAndIsAcknowledged(third, 65'535), PRODUCT / 3, PAIR);
}

TEST_F(PinkTest, TheWindowOfASynIsNotScaled)
{
    Connection first{1};
    SendsSyn(first);
    now += RTT;
    EXPECT_EQ(AcknowledgesSyn(first, 65'535), 65'535); // its share is larger
    std::vector<Connection> connections;
    for (std::uint16_t port = 2; port <= 4; ++port)
    {
        connections.push_back(Opens(port));
    }
    Connection fifth{5};
    SendsSyn(fifth);
    now += RTT;
    EXPECT_NEAR(AcknowledgesSyn(fifth, 65'535), PRODUCT / 5, PAIR);
    EXPECT_EQ(AcknowledgesSyn(fifth, 10'000), 10'000);
    EXPECT_EQ(Read()["bad"], 0); // the small window of a SYN does not make a flow bad
}

TEST_F(PinkTest, DuplicateAcksKeepTheirWindowThoughFlowsCome)
{
    auto connection = Opens(1);
    Opens(2);
    const auto window = SendsAndIsAcknowledged(connection, LARGE);
    SendsData(connection);
    SendsData(connection);
    connection.sequence -= 2 * MSS; // the receiver misses the first one
    Opens(3);
    for (const auto advertised : {LARGE, LARGE, LARGE + 128'000})
    {
        EXPECT_EQ(Acknowledges(connection, advertised), window);
    }
    connection.sequence += 2 * MSS;
    EXPECT_NEAR(Acknowledges(connection, LARGE), PRODUCT / 3, PAIR);
}

TEST_F(PinkTest, DuplicateAcksThatWereNotRewrittenStaySoThoughTheShareShrinks)
{
    auto connection = Opens(1);
    const std::uint32_t window = 100'096;
    EXPECT_EQ(SendsAndIsAcknowledged(connection, window), window);
    Opens(2);
    EXPECT_EQ(Acknowledges(connection, window), window);
    EXPECT_LT(SendsAndIsAcknowledged(connection, window), window);
}

TEST_F(PinkTest, AReceiverThatOpensAZeroWindowIsNotKeptClosed)
{
    auto connection = Opens(1);
    EXPECT_EQ(SendsAndIsAcknowledged(connection, 0), 0u);
    EXPECT_EQ(Acknowledges(connection, 64'000), 64'000u);
    EXPECT_EQ(Acknowledges(connection, 0), 0u);
    EXPECT_NEAR(Acknowledges(connection, LARGE), PRODUCT, PAIR);
    // Also after a window of ours.
    EXPECT_EQ(Acknowledges(connection, 0), 0u);
    EXPECT_GT(Acknowledges(connection, LARGE), 2 * MSS);
}

TEST_F(PinkTest, WhatALimitedReceiverLeavesGoesToTheOthers)
{
    auto limited = Opens(1);
    auto other = Opens(2);
    std::uint32_t window = 0;
    for (int round = 0; round < 20; ++round)
    {
        EXPECT_EQ(SendsAndIsAcknowledged(limited, LIMITED), LIMITED);
        window = SendsAndIsAcknowledged(other, LARGE);
    }
    EXPECT_NEAR(window, PRODUCT - LIMITED, PAIR);
    EXPECT_EQ(Read()["good"], 1);
    EXPECT_EQ(Read()["bad"], 1);
    EXPECT_NEAR(Read()["free"].get<double>(), RATE / 2 - LIMITED * BITS_PER_WINDOW, 1);
    EXPECT_NEAR(Read()["share"].get<double>(), RATE - LIMITED * BITS_PER_WINDOW, 1);
    // When it closes, nothing of it is left.
    auto reset = ToNode(limited);
    reset.flags = "R";
    Leaves(Build(reset));
    EXPECT_EQ(Read()["free"], 0);
    EXPECT_EQ(Read()["flows"], 1);
    EXPECT_NEAR(SendsAndIsAcknowledged(other, LARGE), PRODUCT, MSS + UNIT);
}

TEST_F(PinkTest, TheLiteralEquationGrantsMoreThanTheLink)
{
    Make({{"reallocation", "literal"}});
    auto limited = Opens(1);
    auto other = Opens(2);
    std::uint32_t window = 0;
    for (int round = 0; round < 4; ++round)
    {
        SendsAndIsAcknowledged(limited, LIMITED);
        window = SendsAndIsAcknowledged(other, LARGE);
    }
    EXPECT_NEAR(window, 1.7 * PRODUCT, 2 * PAIR); // 8, 11, 14, 17 of 10 Mbit/s
}

TEST_F(PinkTest, WithoutReallocationTheOthersKeepTheirShare)
{
    Make({{"reallocation", "none"}});
    auto limited = Opens(1);
    auto other = Opens(2);
    for (int round = 0; round < 4; ++round)
    {
        SendsAndIsAcknowledged(limited, LIMITED);
        EXPECT_NEAR(SendsAndIsAcknowledged(other, LARGE), PRODUCT / 2, PAIR);
    }
    EXPECT_EQ(Read()["bad"], 0);
}

TEST_F(PinkTest, WindowsFollowTheRttOfEachFlow)
{
    auto near = Opens(1, 4, 7, 100 * MS);
    auto far = Opens(2, 4, 7, 250 * MS);
    EXPECT_NEAR(SendsAndIsAcknowledged(near, LARGE, 120 * MS), PRODUCT / 2.0, PAIR); // the smallest one counts
    EXPECT_NEAR(SendsAndIsAcknowledged(far, LARGE, 300 * MS), (2.5 * (PRODUCT - PAIR) + PAIR) / 2, PAIR); // a pair's time is the same
}

TEST_F(PinkTest, TheHalfOfThePathBeforeTheNodeCounts)
{
    Connection connection{1};
    SendsSyn(connection);
    now += RTT;
    AcknowledgesSyn(connection, 60'000);
    now += RTT; // to the node, and back
    Enters(Build(ToRemote(connection)));
    EXPECT_NEAR(SendsAndIsAcknowledged(connection, LARGE), 2 * (PRODUCT - PAIR) + PAIR, PAIR);
    // A SYN-ACK that comes twice tells nothing: which one was acknowledged?
    Connection other{2};
    SendsSyn(other);
    now += RTT;
    AcknowledgesSyn(other, 60'000);
    now += RTT;
    AcknowledgesSyn(other, 60'000);
    now += RTT;
    Enters(Build(ToRemote(other)));
    EXPECT_NEAR(SendsAndIsAcknowledged(other, LARGE), PRODUCT / 2, PAIR);
}

TEST_F(PinkTest, NoWindowIsWrittenBeforeTheFirstRttSample)
{
    Connection connection{1};
    SendsSyn(connection);
    now += SECOND;
    --connection.sequence;
    SendsSyn(connection); // again: no sample
    now += RTT;
    EXPECT_EQ(AcknowledgesSyn(connection, 65'535), 65'535);
    Enters(Build(ToRemote(connection)));
    EXPECT_EQ(Acknowledges(connection, LARGE), LARGE);
    EXPECT_EQ(Read()["no_rtt"], 2);
    EXPECT_EQ(Read()["flows"], 1);
    EXPECT_NEAR(SendsAndIsAcknowledged(connection, LARGE), PRODUCT, PAIR);
}

TEST_F(PinkTest, AFlowWithUnknownScaleIsCountedButNotRewritten)
{
    Connection connection{1};
    EXPECT_EQ(SendsAndIsAcknowledged(connection, LARGE), LARGE);
    EXPECT_EQ(SendsAndIsAcknowledged(connection, LARGE), LARGE);
    EXPECT_EQ(Read()["flows"], 1);
    EXPECT_EQ(Read()["unknown_scale"], 2);
    EXPECT_EQ(Read()["rewrites"], 0);
}

TEST_F(PinkTest, OtherProtocolsPassUntouchedAndAreCounted)
{
    auto udp = Build({.payload = 100});
    udp[ETHERNET_HEADER + 9] = 17; // QUIC
    auto esp = udp;
    esp[ETHERNET_HEADER + 9] = 50;
    auto fragment = Build({.payload = 100});
    fragment[ETHERNET_HEADER + 6] = 0x20;
    auto malformed = Build({.options = {8, 0, 0, 0}});
    for (auto* frame : {&udp, &esp, &fragment, &malformed})
    {
        Enters(*frame);
        const auto before = *frame;
        EXPECT_TRUE(pink->Leaving(*frame, ReadHeaders(*frame), now));
        EXPECT_EQ(*frame, before);
    }
    EXPECT_EQ(Read()["unmanaged"], 8);
    EXPECT_EQ(Read()["flows"], 0);
    Frame arp(60);
    arp[12] = 8;
    arp[13] = 6;
    Enters(arp);
    EXPECT_EQ(Read()["unmanaged"], 8);
}

TEST_F(PinkTest, AuthenticatedSegmentsPassUntouched)
{
    auto connection = Opens(1);
    SendsData(connection);
    now += RTT;
    auto ack = ToNode(connection);
    ack.window = 60'000;
    ack.options = {19, 18};
    ack.options.resize(18);
    EXPECT_EQ(Leaves(Build(ack)), 60'000);
    EXPECT_EQ(Read()["unmanaged"], 1);
}

TEST_F(PinkTest, AnAckWithAWrongChecksumStaysWrong)
{
    auto connection = Opens(1);
    SendsData(connection);
    now += RTT;
    auto ack = ToNode(connection);
    ack.window = 60'000;
    auto frame = Build(ack);
    frame[TransportAt(frame) + 16] ^= 0x10;
    const auto error = TcpSum(frame);
    pink->Leaving(frame, ReadHeaders(frame), now);
    EXPECT_NE(BigEndian16(frame, TransportAt(frame) + 14), 60'000);
    EXPECT_EQ(TcpSum(frame), error);
}

TEST_F(PinkTest, WorksWithIpv6AndAcrossTheEndOfSequenceNumbers)
{
    Connection connection{1, 6, 7, 0xfffff000};
    SendsSyn(connection);
    now += RTT;
    AcknowledgesSyn(connection);
    for (int segment = 0; segment < 20; ++segment)
    {
        EXPECT_NEAR(SendsAndIsAcknowledged(connection, LARGE), PRODUCT, PAIR);
    }
}

TEST_F(PinkTest, ASynFloodTakesNoSharesWithTheGuard)
{
    for (const bool guard : {false, true})
    {
        now = 0;
        Make({{"syn_guard", guard}});
        auto connection = Opens(1);
        for (std::uint16_t port = 1000; port < 2000; ++port)
        {
            Connection forged{port};
            SendsSyn(forged);
            AcknowledgesSyn(forged);
        }
        EXPECT_EQ(Read()["flows"], 1001);
        now += 4 * SECOND;
        for (int segment = 0; segment < 100; ++segment)
        {
            SendsAndIsAcknowledged(connection, LARGE);
        }
        EXPECT_EQ(Read()["flows"], guard ? 1 : 1001);
        EXPECT_EQ(Read()["incomplete"], guard ? 1000 : 0);
        EXPECT_NEAR(SendsAndIsAcknowledged(connection, LARGE), guard ? PRODUCT : 2 * MSS, PAIR);
    }
}

TEST_F(PinkTest, AConnectionThatCompletesLateCountsAgainWithTheGuard)
{
    Make({{"syn_guard", true}});
    auto first = Opens(1);
    Connection late{2};
    SendsSyn(late);
    now += 5 * SECOND;
    SendsAndIsAcknowledged(first, LARGE);
    EXPECT_EQ(Read()["flows"], 1);
    AcknowledgesSyn(late);
    EXPECT_EQ(Read()["flows"], 1);
    Enters(Build(ToRemote(late)));
    EXPECT_EQ(Read()["flows"], 2);
    EXPECT_EQ(Read()["incomplete"], 0);
}

TEST_F(PinkTest, ChangedSettingsKeepTheFlows)
{
    auto first = Opens(1);
    auto second = Opens(2);
    Connection silent{3};
    SendsSyn(silent);
    now += 4 * SECOND;
    SendsAndIsAcknowledged(first, LIMITED);
    EXPECT_EQ(Read()["bad"], 1);
    pink->Set(Settings({{"rate", RATE / 2}}), now);
    EXPECT_EQ(Read()["flows"], 3);
    EXPECT_EQ(Read()["bad"], 1);
    pink->Set(Settings({{"rate", RATE / 2}, {"syn_guard", true}}), now);
    EXPECT_EQ(Read()["flows"], 2);
    pink->Set(Settings({{"rate", RATE / 2}, {"reallocation", "none"}}), now);
    EXPECT_EQ(Read()["flows"], 3);
    EXPECT_EQ(Read()["good"], 3);
    EXPECT_EQ(Read()["free"], 0);
    EXPECT_NEAR(SendsAndIsAcknowledged(second, LARGE), PRODUCT / 6, PAIR); // scale and RTT are still known
}

TEST_F(PinkTest, TheRttOfALifeIsAnOption)
{
    for (const bool lifetime : {false, true})
    {
        now = 0;
        Make({{"rtt_window", lifetime ? Json() : Json(2.0)}});
        auto connection = Opens(1);
        std::uint32_t window = 0;
        for (int segment = 0; segment < 20; ++segment)
        {
            window = SendsAndIsAcknowledged(connection, LARGE, 4 * RTT);
        }
        EXPECT_NEAR(window, lifetime ? PRODUCT : 4 * (PRODUCT - PAIR) + PAIR, PAIR);
    }
}

TEST_F(PinkTest, SeventyThousandFlowsKeepItsStateBounded)
{
    for (std::uint32_t flow = 0; flow < 70'000; ++flow)
    {
        Enters(Build({.source = flow, .flags = "S"}));
    }
    EXPECT_EQ(Read()["flows"], TcpFlows::CAPACITY);
    EXPECT_EQ(Read()["evicted"], 70'000 - TcpFlows::CAPACITY);
    now += 200 * SECOND;
    for (int segment = 0; segment < 3000; ++segment)
    {
        Enters(Build({.source = 1}));
    }
    EXPECT_EQ(Read()["flows"], 1);
    EXPECT_EQ(Read()["good"], 1);
}

TEST_F(PinkTest, RefusesSettingsThatMakeNoSense)
{
    for (const auto& changed : {Json{{"rate", 0}},
                                Json{{"rate", -1}},
                                Json{{"exploitation", 0}},
                                Json{{"exploitation", 1.1}},
                                Json{{"reallocation", "some"}},
                                Json{{"accounting", "some"}},
                                Json{{"rtt_window", 0}}})
    {
        EXPECT_THROW(Make(changed), std::invalid_argument) << changed;
        EXPECT_THROW(Pink(Settings()).Set(Settings(changed), 0), std::invalid_argument) << changed;
    }
    EXPECT_THROW(pink.emplace(Json::object()), nlohmann::json::exception);
}
