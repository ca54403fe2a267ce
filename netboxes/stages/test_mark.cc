// SPDX-License-Identifier: GPL-2.0-or-later
#include "mark.h"

#include "test_frames.h"

#include <gtest/gtest.h>

#include <random>

using namespace netboxit;
using namespace netboxit::stages;
using namespace netboxit::stages::testing;

namespace
{

constexpr unsigned EF = 46;   // RFC 3246
constexpr unsigned AF11 = 10; // RFC 2597
constexpr unsigned AF12 = 12;

/// The frame that it makes of one that enters.
Frame Entered(Mark& mark, Frame frame, std::int64_t now = 0)
{
    EXPECT_TRUE(mark.Entering(frame, ReadHeaders(frame), now));
    return frame;
}

unsigned DscpOf(const Frame& frame)
{
    return ReadHeaders(frame).ip->Dscp();
}

/// RFC 791, section 3.1, without what was in the field before.
std::uint16_t Ipv4Checksum(Bytes header)
{
    Frame copy(header.begin(), header.end());
    copy[10] = copy[11] = 0;
    return static_cast<std::uint16_t>(~OnesSum(copy));
}

} // namespace

TEST(MarkTest, AHundredThousandRandomPacketsHaveTheDscpAndARightChecksum)
{
    std::mt19937 random(1);
    std::vector<Mark> marks;
    for (unsigned dscp = 0; dscp < 64; ++dscp)
    {
        marks.emplace_back(Json{{"dscp", dscp}});
    }
    for (int made = 0; made < 100'000; ++made)
    {
        const bool isIpv4 = random() % 2 == 0;
        const auto tags = random() % 3 * VLAN_TAG;
        const auto words = isIpv4 ? 5 + random() % 11 : 10;
        Frame frame(12, 2);
        for (std::size_t tag = 0; tag < tags; tag += VLAN_TAG)
        {
            frame.insert(frame.end(), {0x81, 0, 0, 7});
        }
        Append16(frame, isIpv4 ? ether_type::IPV4 : ether_type::IPV6);
        const auto ip = frame.size();
        for (std::size_t byte = 0; byte < words * 4 + 8; ++byte)
        {
            frame.push_back(static_cast<std::uint8_t>(random()));
        }
        frame[ip] = static_cast<std::uint8_t>(isIpv4 ? 0x40 | words : 0x60 | (frame[ip] & 0x0f));
        frame[ip + (isIpv4 ? 2 : 4)] = 0;
        frame[ip + (isIpv4 ? 3 : 5)] = static_cast<std::uint8_t>(isIpv4 ? words * 4 + 8 : 8);
        const auto header = Bytes(frame).subspan(ip, words * 4);
        auto expected = frame;
        const auto dscp = static_cast<unsigned>(random() % 64);
        if (isIpv4)
        {
            const auto right = Ipv4Checksum(header);
            frame[ip + 10] = static_cast<std::uint8_t>(right >> 8);
            frame[ip + 11] = static_cast<std::uint8_t>(right);
            expected[ip + 1] = static_cast<std::uint8_t>((frame[ip + 1] & 3) | dscp << 2);
            const auto updated = Ipv4Checksum(Bytes(expected).subspan(ip, words * 4));
            expected[ip + 10] = static_cast<std::uint8_t>(updated >> 8);
            expected[ip + 11] = static_cast<std::uint8_t>(updated);
        }
        else
        {
            expected[ip] = static_cast<std::uint8_t>(0x60 | dscp >> 2);
            expected[ip + 1] = static_cast<std::uint8_t>((frame[ip + 1] & 0x3f) | (dscp & 3) << 6);
        }
        auto marked = frame;
        marks[dscp].Entering(marked, ReadHeaders(marked), 0);
        ASSERT_EQ(marked, expected) << made;
    }
}

TEST(MarkTest, AWrongChecksumStaysWrong)
{
    Mark mark(Json{{"dscp", EF}});
    auto frame = Build({});
    frame[ETHERNET_HEADER + 10] ^= 0x10;
    const auto error = OnesSum(Bytes(frame).subspan(ETHERNET_HEADER, 20));
    frame = Entered(mark, frame);
    EXPECT_EQ(DscpOf(frame), EF);
    EXPECT_EQ(OnesSum(Bytes(frame).subspan(ETHERNET_HEADER, 20)), error);
}

TEST(MarkTest, MarksFragmentsAndIpsec)
{
    Mark mark(Json{{"dscp", EF}});
    auto first = Build({.payload = 100});
    first[ETHERNET_HEADER + 6] = 0x20;
    auto later = Build({.payload = 100});
    later[ETHERNET_HEADER + 7] = 9;
    auto encrypted = Build({.payload = 100});
    encrypted[ETHERNET_HEADER + 9] = 50;
    auto authenticated = Build({.version = 6, .payload = 100, .hasExtension = true});
    authenticated[ETHERNET_HEADER + 6] = 51;
    for (const auto& frame : {first, later, encrypted, authenticated})
    {
        EXPECT_EQ(DscpOf(Entered(mark, frame)), EF);
    }
    EXPECT_EQ(mark.Read(0)["marked"], 4);
}

TEST(MarkTest, LeavesWhatIsNoWholeIpHeaderAndCountsIt)
{
    Mark mark(Json{{"dscp", EF}});
    Frame arp(60);
    arp[12] = 8;
    arp[13] = 6;
    EXPECT_EQ(Entered(mark, arp), arp);
    int unmanaged = 1;
    for (const auto version : {4, 6})
    {
        const auto whole = Build({.version = version});
        for (auto length = ETHERNET_HEADER; length < ETHERNET_HEADER + (version == 4 ? 20 : 40); ++length, ++unmanaged)
        {
            const Frame cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
            EXPECT_EQ(Entered(mark, cut), cut);
        }
    }
    auto noVersion = Build({});
    noVersion[ETHERNET_HEADER] = 0x55;
    EXPECT_EQ(Entered(mark, noVersion), noVersion);
    EXPECT_EQ(mark.Read(0)["unmanaged"], unmanaged + 1);
    EXPECT_EQ(mark.Read(0)["within"], 0);
}

TEST(MarkTest, PacketsThatExceedTheProfileHaveAnotherDscp)
{
    Mark mark(Json{{"dscp", AF11}, {"excess_dscp", AF12}, {"rate", 1e6}, {"burst", 15'000}});
    for (int packet = 0; packet < 20; ++packet)
    {
        EXPECT_EQ(DscpOf(Entered(mark, BuildUdp(1, 1500))), packet < 10 ? AF11 : AF12);
    }
    EXPECT_EQ(DscpOf(Entered(mark, BuildUdp(1, 1500), 12'000'000)), AF11);
    EXPECT_EQ(mark.Read(0)["within"], 11);
    EXPECT_EQ(mark.Read(0)["exceeding"], 10);
    EXPECT_EQ(mark.Read(0)["marked"], 21);
}

TEST(MarkTest, EachOfTheTwoMayStay)
{
    Mark onlyExcess(Json{{"dscp", nullptr}, {"excess_dscp", 0}, {"rate", 1e6}, {"burst", 1500}, {"per", "node"}});
    auto frame = BuildUdp(1, 1500);
    frame[ETHERNET_HEADER + 1] = EF << 2;
    EXPECT_EQ(Entered(onlyExcess, frame), frame);
    EXPECT_EQ(DscpOf(Entered(onlyExcess, frame)), 0u);
    EXPECT_EQ(DscpOf(Entered(onlyExcess, BuildUdp(2, 1500))), 0u); // a node with a profile of its own
    EXPECT_EQ(onlyExcess.Read(0)["exceeding"], 1);
    Mark onlyWithin(Json{{"dscp", AF11}, {"rate", 1e6}, {"burst", 1500}});
    EXPECT_EQ(DscpOf(Entered(onlyWithin, frame)), AF11);
    EXPECT_EQ(DscpOf(Entered(onlyWithin, frame)), EF);
}

TEST(MarkTest, MarksTheDirectionThatItIsTold)
{
    Mark mark(Json{{"dscp", EF}, {"direction", "leaving"}});
    auto frame = Build({});
    EXPECT_EQ(Entered(mark, frame), frame);
    EXPECT_TRUE(mark.Leaving(frame, ReadHeaders(frame), 0));
    EXPECT_EQ(DscpOf(frame), EF);
    EXPECT_EQ(mark.Read(0)["within"], 1);
}

TEST(MarkTest, NewSettingsKeepWhatTheBucketHas)
{
    Mark mark(Json{{"dscp", AF11}, {"excess_dscp", AF12}, {"rate", 1e6}, {"burst", 1500}});
    Entered(mark, BuildUdp(1, 1500));
    mark.Set({{"dscp", EF}, {"excess_dscp", 0}, {"rate", 1e6}, {"burst", 1500}}, 0);
    EXPECT_EQ(DscpOf(Entered(mark, BuildUdp(1, 1500))), 0u);
    mark.Set({{"dscp", EF}}, 0);
    EXPECT_EQ(DscpOf(Entered(mark, BuildUdp(1, 1500))), EF);
    EXPECT_EQ(mark.Read(0)["within"], 2);
}

TEST(MarkTest, RefusesSettingsThatMakeNoSense)
{
    for (const auto& settings : {Json::object(),
                                 Json{{"dscp", 64}},
                                 Json{{"dscp", -1}},
                                 Json{{"dscp", 1.5}},
                                 Json{{"dscp", "ef"}},
                                 Json{{"rate", 1e6}},
                                 Json{{"excess_dscp", 1}},
                                 Json{{"dscp", 1}, {"excess_dscp", 64}, {"rate", 1e6}},
                                 Json{{"dscp", 1}, {"rate", 0}},
                                 Json{{"dscp", 1}, {"rate", 1e6}, {"burst", 10}},
                                 Json{{"dscp", 1}, {"direction", "in"}}})
    {
        EXPECT_THROW(Mark{settings}, std::invalid_argument) << settings;
        EXPECT_THROW(Mark(Json{{"dscp", 1}}).Set(settings, 0), std::invalid_argument) << settings;
    }
}
