// SPDX-License-Identifier: GPL-2.0-or-later
#include "ecn.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <vector>

using namespace netboxit;

namespace
{

using Octets = std::vector<std::uint8_t>;

/// RFC 1071: 0xffff of a header whose checksum is right.
std::uint16_t SumOf(Bytes header)
{
    std::uint32_t sum = 0;
    for (std::size_t at = 0; at + 1 < header.size(); at += 2)
    {
        sum += BigEndian16(header, at);
    }
    while (sum > 0xffff)
    {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    return static_cast<std::uint16_t>(sum);
}

/// With so many VLAN tags, of which the outer ones are service tags.
Octets Frame(Bytes packet, std::uint16_t etherType, unsigned tags)
{
    Octets frame(12, 2);
    for (unsigned tag = 0; tag < tags; ++tag)
    {
        const std::uint16_t type = tag + 1 < tags ? ether_type::SERVICE_VLAN : ether_type::VLAN;
        frame.insert(frame.end(), {static_cast<std::uint8_t>(type >> 8), static_cast<std::uint8_t>(type), 0, 7});
    }
    frame.insert(frame.end(), {static_cast<std::uint8_t>(etherType >> 8), static_cast<std::uint8_t>(etherType)});
    frame.insert(frame.end(), packet.begin(), packet.end());
    return frame;
}

Octets Ipv4(std::uint8_t typeOfService, std::uint16_t identification)
{
    Octets header{0x45, typeOfService, 0, 28, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2};
    header[4] = static_cast<std::uint8_t>(identification >> 8);
    header[5] = static_cast<std::uint8_t>(identification);
    const auto checksum = static_cast<std::uint16_t>(~SumOf(header));
    header[10] = static_cast<std::uint8_t>(checksum >> 8);
    header[11] = static_cast<std::uint8_t>(checksum);
    header.resize(28, 0);
    return header;
}

Octets Ipv6(std::uint8_t trafficClass)
{
    Octets packet(48, 1);
    packet[0] = static_cast<std::uint8_t>(0x60 | trafficClass >> 4);
    packet[1] = static_cast<std::uint8_t>(trafficClass << 4 | 0x5); // and a flow label
    packet[4] = 0;
    packet[5] = 8;
    packet[6] = 59;
    return packet;
}

} // namespace

TEST(Ecn, MarksIpv4BehindTagsWithARightChecksum)
{
    std::mt19937 random(1);
    for (unsigned round = 0; round < 4000; ++round)
    {
        const auto type = static_cast<std::uint8_t>(random());
        const auto tags = round % 3;
        auto frame = Frame(Ipv4(type, static_cast<std::uint16_t>(random())), ether_type::IPV4, tags);
        const auto before = frame;
        const bool isCapable = (type & 3) != 0;
        ASSERT_EQ(EcnOf(frame), static_cast<Ecn>(type & 3));
        ASSERT_EQ(MarkCongestionExperienced(frame), isCapable);
        if (!isCapable)
        {
            ASSERT_EQ(frame, before);
            continue;
        }
        const auto header = Bytes(frame).subspan(ETHERNET_HEADER + tags * VLAN_TAG, 20);
        ASSERT_EQ(EcnOf(frame), Ecn::Ce);
        ASSERT_EQ(header[1], type | 3);
        ASSERT_EQ(SumOf(header), 0xffff);
    }
}

TEST(Ecn, MarksIpv6AndLeavesDscpAndFlowLabel)
{
    for (unsigned trafficClass = 0; trafficClass < 256; ++trafficClass)
    {
        auto frame = Frame(Ipv6(static_cast<std::uint8_t>(trafficClass)), ether_type::IPV6, trafficClass % 2);
        auto expected = frame;
        const auto at = ETHERNET_HEADER + trafficClass % 2 * VLAN_TAG;
        const bool isCapable = (trafficClass & 3) != 0;
        expected[at + 1] |= isCapable ? 0x30 : 0;
        EXPECT_EQ(MarkCongestionExperienced(frame), isCapable);
        EXPECT_EQ(frame, expected);
    }
}

TEST(Ecn, LeavesWhatIsNoWholeIpHeader)
{
    auto whole = Frame(Ipv4(2, 1), ether_type::IPV4, 0);
    for (std::size_t length = 0; length < ETHERNET_HEADER + 20; ++length)
    {
        const auto cut = std::span(whole).first(length);
        EXPECT_FALSE(MarkCongestionExperienced(cut));
        EXPECT_EQ(EcnOf(cut), Ecn::NotEct);
    }
    auto arp = Frame(Ipv4(3, 1), ether_type::ARP, 0);
    EXPECT_FALSE(MarkCongestionExperienced(arp));
}

// RFC 1624: a checksum that was wrong is not made right.
TEST(Ecn, AWrongChecksumStaysWrong)
{
    auto packet = Ipv4(1, 77);
    packet[10] ^= 1;
    auto frame = Frame(packet, ether_type::IPV4, 0);
    EXPECT_TRUE(MarkCongestionExperienced(frame));
    EXPECT_NE(SumOf(Bytes(frame).subspan(ETHERNET_HEADER, 20)), 0xffff);
}
