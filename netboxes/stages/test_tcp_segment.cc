// SPDX-License-Identifier: GPL-2.0-or-later
#include "tcp_segment.h"

#include "test_frames.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <utility>
#include <vector>

using namespace netboxit;
using namespace netboxit::stages;
using namespace netboxit::stages::testing;

namespace
{

constexpr std::size_t IPV4_TCP = ETHERNET_HEADER + 20;
constexpr std::size_t DATA_OFFSET = IPV4_TCP + 12;

std::optional<TcpSegment> SegmentIn(const Frame& frame)
{
    return ReadTcpSegment(ReadHeaders(frame));
}

const std::vector<std::uint8_t> SYN_OPTIONS{2, 4, 5, 180, 4, 2, 8, 10, 0, 0, 0, 1, 0, 0, 0, 0, 1, 3, 3, 7};

} // namespace

TEST(TcpSegmentTest, ReadsHeaderAndPayload)
{
    for (const auto& [version, hasExtension] : {std::pair{4, false}, {6, false}, {6, true}})
    {
        const auto frame = Build({.version = version,
                                  .sequence = 0xfffffff0,
                                  .acknowledgement = 77,
                                  .flags = "AF",
                                  .window = 500,
                                  .options = {1, 1},
                                  .payload = 100,
                                  .hasExtension = hasExtension});
        const auto segment = SegmentIn(frame);
        ASSERT_TRUE(segment) << version << hasExtension;
        EXPECT_EQ(segment->sourcePort, 40000);
        EXPECT_EQ(segment->destinationPort, 80);
        EXPECT_EQ(segment->sequence, 0xfffffff0);
        EXPECT_EQ(segment->acknowledgement, 77u);
        EXPECT_TRUE(segment->ack && segment->fin && !segment->syn && !segment->rst);
        EXPECT_EQ(segment->window, 500);
        EXPECT_EQ(segment->payload, 100u);
        EXPECT_EQ(segment->End(), 0xfffffff0 + 101u); // beyond 2^32
        EXPECT_EQ(segment->header.size(), 24u);
    }
}

TEST(TcpSegmentTest, ReadsTheOptionsOfSynsOnly)
{
    const auto frame = Build({.flags = "S", .options = SYN_OPTIONS});
    const auto syn = SegmentIn(frame);
    ASSERT_TRUE(syn);
    EXPECT_EQ(syn->mss, 1460);
    EXPECT_EQ(syn->windowScale, 7);
    EXPECT_TRUE(syn->timestamps);
    const auto later = Build({.flags = "A", .options = SYN_OPTIONS});
    const auto ack = SegmentIn(later);
    ASSERT_TRUE(ack);
    EXPECT_FALSE(ack->mss || ack->windowScale || ack->timestamps);
}

TEST(TcpSegmentTest, WindowScaleIsAtMostFourteen)
{
    const auto frame = Build({.flags = "S", .options = {3, 3, 255}});
    EXPECT_EQ(SegmentIn(frame)->windowScale, 14);
}

TEST(TcpSegmentTest, SkipsKnownOptionsOfAnotherLength)
{
    const auto frame = Build({.flags = "S", .options = {2, 3, 9, 3, 4, 1, 1, 4, 3, 0, 253, 2}});
    const auto segment = SegmentIn(frame);
    ASSERT_TRUE(segment);
    EXPECT_FALSE(segment->mss || segment->windowScale);
}

TEST(TcpSegmentTest, BytesBehindTheEndOfOptionsAreNone)
{
    const auto frame = Build({.flags = "S", .options = {0, 3, 3, 9}});
    const auto segment = SegmentIn(frame);
    ASSERT_TRUE(segment);
    EXPECT_FALSE(segment->windowScale);
}

TEST(TcpSegmentTest, MalformedOptionsMakeNoSegment)
{
    const std::vector<std::vector<std::uint8_t>> malformed{
        {2, 0, 5, 180},    // length 0
        {3, 1, 7, 0},      // length 1
        {1, 1, 1, 2},      // no length
        {8, 10, 0, 0},     // longer than the header
        {1, 1, 254, 3},    // its value is outside
        {253, 255, 0, 0}}; // as long as it can be
    for (const auto& options : malformed)
    {
        EXPECT_FALSE(SegmentIn(Build({.flags = "S", .options = options}))) << int{options[0]};
    }
}

TEST(TcpSegmentTest, AnImpossibleDataOffsetMakesNoSegment)
{
    for (int words = 0; words < 16; ++words)
    {
        auto frame = Build({.payload = 10}); // 30 bytes behind the IP header, of which the last ones are no operations
        std::fill(frame.end() - 10, frame.end(), std::uint8_t{1});
        frame[DATA_OFFSET] = static_cast<std::uint8_t>(words << 4);
        const auto segment = SegmentIn(frame);
        EXPECT_EQ(segment.has_value(), words >= 5 && words <= 7) << words;
    }
}

TEST(TcpSegmentTest, ATruncatedPacketIsNoSegment)
{
    for (const auto version : {4, 6})
    {
        const auto frame = Build({.version = version, .options = SYN_OPTIONS, .payload = 9});
        for (auto length = ETHERNET_HEADER; length < frame.size(); ++length)
        {
            const Frame cut(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(length));
            EXPECT_FALSE(SegmentIn(cut)) << length;
        }
        EXPECT_TRUE(SegmentIn(frame));
    }
}

TEST(TcpSegmentTest, EthernetPaddingIsNoPayload)
{
    auto frame = Build({});
    frame.resize(60);
    ASSERT_TRUE(SegmentIn(frame));
    EXPECT_EQ(SegmentIn(frame)->payload, 0u);
}

TEST(TcpSegmentTest, FragmentsAndOtherProtocolsAreNone)
{
    auto first = Build({.payload = 100});
    first[ETHERNET_HEADER + 6] = 0x20;
    EXPECT_FALSE(SegmentIn(first));
    auto later = Build({.payload = 100});
    later[ETHERNET_HEADER + 7] = 1;
    EXPECT_FALSE(SegmentIn(later));
    auto udp = Build({.payload = 100});
    udp[ETHERNET_HEADER + 9] = 17;
    EXPECT_FALSE(SegmentIn(udp));
    for (const auto protocol : {44, 50, 51}) // IPv6: a fragment, ESP, AH
    {
        auto frame = Build({.version = 6, .payload = 100, .hasExtension = true});
        frame[ETHERNET_HEADER + 6] = static_cast<std::uint8_t>(protocol);
        EXPECT_FALSE(SegmentIn(frame)) << protocol;
    }
}

TEST(TcpSegmentTest, ReadsBehindAVlanTagAndAnAtomicFragment)
{
    auto tagged = Build({.window = 9});
    tagged.insert(tagged.begin() + 12, {0x81, 0, 0, 5});
    ASSERT_TRUE(SegmentIn(tagged));
    EXPECT_EQ(SegmentIn(tagged)->window, 9);
    auto atomic = Build({.version = 6, .window = 9, .hasExtension = true});
    atomic[ETHERNET_HEADER + 6] = 44;
    atomic[ETHERNET_HEADER + 42] = atomic[ETHERNET_HEADER + 43] = 0; // offset 0, no more fragments
    ASSERT_TRUE(SegmentIn(atomic));
    EXPECT_EQ(SegmentIn(atomic)->window, 9);
}

TEST(TcpSegmentTest, DoesNotRewriteAnAuthenticatedSegment)
{
    for (const auto kind : {std::uint8_t{19}, std::uint8_t{29}})
    {
        auto frame = Build({.window = 1000, .options = {kind, 4, 1, 2}});
        const auto before = frame;
        const auto segment = SegmentIn(frame);
        ASSERT_TRUE(segment);
        EXPECT_TRUE(segment->isAuthenticated);
        EXPECT_FALSE(RewriteWindow(frame, *segment, 10));
        EXPECT_EQ(frame, before);
    }
}

TEST(TcpSegmentTest, AMillionRewrittenSegmentsHaveRightChecksums)
{
    std::mt19937 random(1);
    const std::vector<std::vector<std::uint8_t>> options{{}, {1, 1, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8}, SYN_OPTIONS, {1}};
    for (int made = 0; made < 100'000; ++made)
    {
        auto frame = Build({.version = random() % 2 == 0 ? 4 : 6,
                            .source = static_cast<std::uint32_t>(random()),
                            .sequence = static_cast<std::uint32_t>(random()),
                            .flags = random() % 8 == 0 ? "SA" : "A",
                            .window = static_cast<std::uint16_t>(random()),
                            .options = options[random() % options.size()],
                            .payload = random() % 12,
                            .hasExtension = random() % 2 == 0,
                            .filling = static_cast<std::uint8_t>(random())});
        const auto segment = SegmentIn(frame);
        ASSERT_TRUE(segment);
        for (int rewritten = 0; rewritten < 10; ++rewritten)
        {
            constexpr std::array<std::uint16_t, 4> corners{0, 1, 0xffff, 0xfffe};
            const auto window = random() % 16 == 0 ? corners[random() % 4] : static_cast<std::uint16_t>(random());
            ASSERT_TRUE(RewriteWindow(frame, *segment, window));
            ASSERT_EQ(TcpSum(frame), 0xffffu);
            ASSERT_EQ(BigEndian16(segment->header, 14), window);
        }
    }
}

TEST(TcpSegmentTest, RewritingChangesWindowAndChecksumOnly)
{
    auto frame = Build({.window = 1000, .payload = 33});
    const auto before = frame;
    ASSERT_TRUE(RewriteWindow(frame, *SegmentIn(frame), 0x1234));
    for (std::size_t at = 0; at < frame.size(); ++at)
    {
        if (at < IPV4_TCP + 14 || at >= IPV4_TCP + 18)
        {
            EXPECT_EQ(frame[at], before[at]) << at;
        }
    }
}

TEST(TcpSegmentTest, AWrongChecksumStaysWrong)
{
    auto frame = Build({.window = 1000, .payload = 33});
    frame[IPV4_TCP + 16] ^= 0x40;
    const auto error = TcpSum(frame);
    ASSERT_NE(error, 0xffffu);
    ASSERT_TRUE(RewriteWindow(frame, *SegmentIn(frame), 7));
    EXPECT_EQ(TcpSum(frame), error);
}

TEST(TcpSegmentTest, ReadsNothingOutsideOfRandomBytes)
{
    std::mt19937 random(2);
    for (int made = 0; made < 100'000; ++made)
    {
        const auto version = random() % 2 == 0 ? 4 : 6;
        auto frame = Build({.version = version, .options = SYN_OPTIONS, .payload = random() % 8, .hasExtension = made % 3 == 0});
        for (int changed = 0; changed < 4; ++changed)
        {
            frame[ETHERNET_HEADER + random() % (frame.size() - ETHERNET_HEADER)] = static_cast<std::uint8_t>(random());
        }
        const auto segment = SegmentIn(frame);
        if (segment)
        {
            EXPECT_GE(segment->header.data(), frame.data());
            EXPECT_LE(segment->header.data() + segment->header.size() + segment->payload, frame.data() + frame.size());
        }
    }
}
