// SPDX-License-Identifier: GPL-2.0-or-later
#include "tcp_flows.h"

#include "test_frames.h"

#include <gtest/gtest.h>

#include <set>

using namespace netboxit;
using namespace netboxit::stages;
using namespace netboxit::stages::testing;

namespace
{

constexpr std::int64_t SECOND = 1'000'000'000;
constexpr std::uint32_t NODE_START = 1000;
constexpr std::uint32_t REMOTE_START = 0xffffff00;

class TcpFlowsTest : public ::testing::Test, protected TcpFlows::Observer
{
  protected:
    void Opened(TcpFlows::Id flow) override
    {
        EXPECT_TRUE(known.insert(flow).second);
        ++opened;
    }

    void Closed(TcpFlows::Id flow) override
    {
        EXPECT_EQ(known.erase(flow), 1u);
        ++closed;
    }

    void Stalled(TcpFlows::Id flow) override
    {
        EXPECT_TRUE(known.contains(flow));
        ++stalled;
    }

    std::optional<TcpFlows::Id> See(SegmentFrame segment, Direction direction)
    {
        if (direction == Direction::ToNode)
        {
            std::swap(segment.source, segment.destination);
            std::swap(segment.sourcePort, segment.destinationPort);
        }
        const auto frame = Build(segment);
        const auto headers = ReadHeaders(frame);
        return flows.See(*headers.ip, *ReadTcpSegment(headers), direction, now);
    }

    std::optional<TcpFlows::Id> FromNode(const SegmentFrame& segment)
    {
        return See(segment, Direction::FromNode);
    }

    std::optional<TcpFlows::Id> ToNode(const SegmentFrame& segment)
    {
        return See(segment, Direction::ToNode);
    }

    void Handshake(std::vector<std::uint8_t> ofNode = {}, std::vector<std::uint8_t> ofRemote = {})
    {
        FromNode({.sequence = NODE_START, .flags = "S", .options = std::move(ofNode)});
        ToNode({.sequence = REMOTE_START, .acknowledgement = NODE_START + 1, .flags = "SA", .options = std::move(ofRemote)});
        FromNode({.sequence = NODE_START + 1, .acknowledgement = REMOTE_START + 1});
    }

    const TcpFlow& Only() const
    {
        return flows[*flows.FirstOpen()];
    }

    std::int64_t now{};
    std::set<TcpFlows::Id> known;
    int opened{};
    int closed{};
    int stalled{};
    TcpFlows flows{{1, 2}, *this};
};

} // namespace

TEST_F(TcpFlowsTest, BothWaysOfAConnectionAreOneFlow)
{
    const auto first = FromNode({.flags = "S"});
    const auto second = ToNode({.acknowledgement = 1, .flags = "SA"});
    ASSERT_TRUE(first);
    EXPECT_EQ(first, second);
    EXPECT_EQ(flows.Open(), 1u);
    for (const auto& other : {SegmentFrame{.version = 6}, {.source = 9}, {.destination = 9}, {.sourcePort = 9}, {.destinationPort = 9}})
    {
        EXPECT_NE(FromNode(other), first);
    }
    EXPECT_EQ(flows.Open(), 6u);
}

TEST_F(TcpFlowsTest, ASynSentAgainCountsOnce)
{
    for (int sent = 0; sent < 5; ++sent, now += SECOND / 2)
    {
        FromNode({.sequence = NODE_START, .flags = "S"});
    }
    ToNode({.sequence = 5, .acknowledgement = NODE_START + 1, .flags = "SA"});
    ToNode({.sequence = 5, .acknowledgement = NODE_START + 1, .flags = "SA"});
    FromNode({.sequence = NODE_START, .flags = "S"});
    EXPECT_EQ(opened, 1);
    EXPECT_EQ(closed, 0);
    EXPECT_FALSE(Only().isComplete);
    FromNode({.sequence = NODE_START + 1, .acknowledgement = 6});
    EXPECT_TRUE(Only().isComplete);
}

TEST_F(TcpFlowsTest, TheScaleIsTheRemoteEndsIfBothOffer)
{
    Handshake({3, 3, 2}, {3, 3, 7});
    ASSERT_TRUE(Only().HasHandshake());
    EXPECT_EQ(Only().RemoteShift(), 7);
}

TEST_F(TcpFlowsTest, NothingIsScaledIfOneEndDoesNotOffer)
{
    Handshake({}, {3, 3, 7});
    EXPECT_EQ(Only().RemoteShift(), 0);
    FromNode({.flags = "R"});
    Handshake({3, 3, 7}, {});
    EXPECT_EQ(Only().RemoteShift(), 0);
}

TEST_F(TcpFlowsTest, TheSegmentSizeIsTheSmallerMssWithoutTimestamps)
{
    Handshake({2, 4, 5, 180}, {2, 4, 3, 232});
    EXPECT_EQ(Only().SegmentSize(), 1000u);
    FromNode({.flags = "R"});
    Handshake({2, 4, 5, 180, 8, 10, 0, 0, 0, 0, 0, 0, 0, 0}, {2, 4, 5, 180, 8, 10, 0, 0, 0, 0, 0, 0, 0, 0});
    EXPECT_EQ(Only().SegmentSize(), 1448u);
    FromNode({.flags = "R"});
    Handshake({2, 4, 5, 180}, {});
    EXPECT_EQ(Only().SegmentSize(), 536u);
    FromNode({.flags = "R"});
    Handshake({2, 4, 5, 180}, {2, 4, 0, 0}); // hostile
    EXPECT_EQ(Only().SegmentSize(), 48u);
}

TEST_F(TcpFlowsTest, AFlowFirstSeenInItsMidstHasNoKnownScale)
{
    ASSERT_TRUE(ToNode({.acknowledgement = 500}));
    FromNode({.sequence = 500, .payload = 10});
    EXPECT_TRUE(Only().isComplete);
    EXPECT_FALSE(Only().HasHandshake());
    // Nor one of which only the SYN-ACK was seen.
    FromNode({.flags = "R"});
    FromNode({.sequence = NODE_START, .flags = "S"});
    FromNode({.flags = "R"});
    ToNode({.sourcePort = 5, .sequence = 1, .acknowledgement = 9, .flags = "SA"});
    FromNode({.sourcePort = 5, .sequence = 9, .acknowledgement = 2});
    EXPECT_FALSE(Only().HasHandshake());
}

TEST_F(TcpFlowsTest, ASynAckOfAnotherSynIsNotTakenFor)
{
    FromNode({.sequence = NODE_START, .flags = "S"});
    ToNode({.sequence = 5, .acknowledgement = NODE_START + 77, .flags = "SA", .options = {3, 3, 14}});
    EXPECT_FALSE(Only().HasHandshake());
}

TEST_F(TcpFlowsTest, AResetOfEitherEndCloses)
{
    Handshake();
    EXPECT_FALSE(FromNode({.flags = "R"}));
    EXPECT_EQ(flows.Open(), 0u);
    EXPECT_EQ(closed, 1);
    Handshake();
    EXPECT_EQ(flows.Open(), 1u);
    EXPECT_FALSE(ToNode({.flags = "RA"}));
    EXPECT_EQ(flows.Open(), 0u);
    EXPECT_EQ(closed, 2);
}

TEST_F(TcpFlowsTest, AResetOfNoFlowOpensNone)
{
    EXPECT_FALSE(ToNode({.flags = "R"}));
    EXPECT_EQ(opened, 0);
}

TEST_F(TcpFlowsTest, TheNodesFinClosesWhenItIsAcknowledged)
{
    Handshake();
    const std::uint32_t at = NODE_START + 1;
    FromNode({.sequence = at, .flags = "FA", .payload = 100});
    EXPECT_TRUE(ToNode({.acknowledgement = at + 100})); // all but the FIN
    EXPECT_EQ(flows.Open(), 1u);
    EXPECT_FALSE(ToNode({.acknowledgement = at + 101}));
    EXPECT_EQ(flows.Open(), 0u);
}

TEST_F(TcpFlowsTest, TheRemoteEndsFinDoesNotStopTheNode)
{
    Handshake();
    ToNode({.sequence = REMOTE_START + 1, .acknowledgement = NODE_START + 1, .flags = "FA"});
    FromNode({.sequence = NODE_START + 1, .acknowledgement = REMOTE_START + 2, .payload = 100});
    EXPECT_EQ(flows.Open(), 1u);
}

TEST_F(TcpFlowsTest, AFinAtTheEndOfSequenceNumbersIsAcknowledgedBeyondThem)
{
    FromNode({.sequence = 0xfffffff0, .flags = "FA", .payload = 100});
    EXPECT_TRUE(ToNode({.acknowledgement = 0xffffffff}));
    EXPECT_FALSE(ToNode({.acknowledgement = 0xfffffff0 + 101U}));
}

TEST_F(TcpFlowsTest, LateSegmentsDoNotOpenAClosedFlow)
{
    Handshake();
    ToNode({.flags = "R"});
    EXPECT_FALSE(FromNode({.sequence = NODE_START + 1, .payload = 100}));
    EXPECT_FALSE(ToNode({.acknowledgement = NODE_START + 1}));
    EXPECT_EQ(flows.Open(), 0u);
    now += TcpFlows::LINGER + 1;
    flows.Expire(now);
    EXPECT_TRUE(FromNode({.sequence = NODE_START + 1, .payload = 100}));
}

TEST_F(TcpFlowsTest, ANewConnectionOfTheSamePortsHasItsOwnOptions)
{
    Handshake({3, 3, 2}, {3, 3, 7});
    FromNode({.sequence = 77'000, .flags = "S", .options = {3, 3, 2}});
    EXPECT_EQ(flows.Open(), 1u);
    EXPECT_EQ(opened, 2);
    EXPECT_FALSE(Only().HasHandshake());
    ToNode({.sequence = 1, .acknowledgement = 77'001, .flags = "SA", .options = {3, 3, 9}});
    EXPECT_EQ(Only().RemoteShift(), 9);
}

TEST_F(TcpFlowsTest, SynsThatCrossAreOneHandshake)
{
    FromNode({.sequence = 10, .flags = "S", .options = {3, 3, 2}});
    ToNode({.sequence = 20, .flags = "S", .options = {3, 3, 5}});
    EXPECT_EQ(opened, 1);
    ASSERT_TRUE(Only().HasHandshake());
    EXPECT_EQ(Only().RemoteShift(), 5);
}

TEST_F(TcpFlowsTest, AnIdleFlowLeaves)
{
    Handshake();
    now += TcpFlows::IDLE;
    flows.Expire(now);
    EXPECT_EQ(flows.Open(), 1u);
    flows.Expire(now + 1);
    EXPECT_EQ(flows.Open(), 0u);
    EXPECT_EQ(closed, 1);
}

/// To a second, in which the list of flows by age is right.
TEST_F(TcpFlowsTest, FlowsThatSendStayAndTheOthersLeave)
{
    for (std::uint16_t port = 1; port <= 100; ++port)
    {
        FromNode({.sourcePort = port});
    }
    const auto end = now + TcpFlows::IDLE + 2 * SECOND;
    for (; now < end; now += SECOND / 4)
    {
        FromNode({.sourcePort = 1});
        FromNode({.sourcePort = 50});
        flows.Expire(now);
    }
    EXPECT_EQ(flows.Open(), 2u);
}

TEST_F(TcpFlowsTest, SeventyThousandFlowsEvictTheLongestIdle)
{
    for (std::uint32_t flow = 0; flow < 70'000; ++flow, now += 1000)
    {
        ASSERT_TRUE(FromNode({.source = 0x0a000000 + flow / 50'000, .sourcePort = static_cast<std::uint16_t>(1 + flow % 50'000)}));
        if (flow % 1000 == 0)
        {
            FromNode({.source = 0x0a000000, .sourcePort = 1}); // keeps the first one
        }
    }
    EXPECT_EQ(flows.Open(), TcpFlows::CAPACITY);
    EXPECT_EQ(flows.Evicted(), 70'000u - TcpFlows::CAPACITY);
    EXPECT_EQ(known.size(), TcpFlows::CAPACITY);
    const auto before = opened;
    FromNode({.source = 0x0a000000, .sourcePort = 1});
    EXPECT_EQ(opened, before);
    FromNode({.source = 0x0a000000, .sourcePort = 2}); // was evicted
    EXPECT_EQ(opened, before + 1);
    // Closed ones make place first.
    FromNode({.source = 0x0a000000, .sourcePort = 1, .flags = "R"});
    const auto evicted = flows.Evicted();
    FromNode({.source = 0x0a000000, .sourcePort = 3});
    EXPECT_EQ(flows.Evicted(), evicted);
    for (now += 1000 * SECOND; flows.Open() > 0;)
    {
        flows.Expire(now);
    }
    EXPECT_TRUE(known.empty());
}

TEST_F(TcpFlowsTest, AFlowOfNothingButSynsIsStalledAfterThreeSeconds)
{
    FromNode({.sequence = 1, .flags = "S"});
    ToNode({.sequence = 1, .acknowledgement = 2, .flags = "SA"});
    Handshake();
    FromNode({.sourcePort = 6, .sequence = 1, .flags = "S"});
    now += TcpFlows::HANDSHAKE;
    flows.Expire(now);
    EXPECT_EQ(stalled, 0);
    flows.Expire(now + 1);
    EXPECT_EQ(stalled, 1); // Handshake() used the ports of the first one
    flows.Expire(now + SECOND);
    EXPECT_EQ(stalled, 1);
    EXPECT_EQ(flows.Open(), 2u);
}

TEST_F(TcpFlowsTest, AFloodOfAcksFromForgedAddressesIsStalledToo)
{
    for (std::uint32_t flow = 0; flow < 50; ++flow)
    {
        FromNode({.source = flow, .payload = 10});
        FromNode({.source = flow, .payload = 10});
    }
    flows.Expire(now + TcpFlows::HANDSHAKE + 1);
    EXPECT_EQ(stalled, 50);
}
