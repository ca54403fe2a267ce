// SPDX-License-Identifier: GPL-2.0-or-later
#include "fragment_classes.h"

#include <gtest/gtest.h>

using namespace netboxit;

namespace
{

constexpr std::array<std::uint8_t, 16> FROM{10, 0, 0, 1};
constexpr std::array<std::uint8_t, 16> TO{10, 0, 0, 2};
constexpr std::int64_t SECOND = 1'000'000'000;

IpHeaders Packet(std::uint32_t identification, std::uint8_t protocol = 17)
{
    return {.version = 4,
            .protocol = protocol,
            .part = Part::FirstFragment,
            .identification = identification,
            .source = Bytes(FROM).first(4),
            .destination = Bytes(TO).first(4),
            .header = {},
            .payload = {}};
}

} // namespace

TEST(FragmentClasses, KnowsAPacketByStationAddressesProtocolAndIdentification)
{
    FragmentClasses classes;
    classes.Remember(Packet(7), 0, 0, 3);
    EXPECT_EQ(classes.Find(Packet(7), 0, SECOND), 3);
    EXPECT_EQ(classes.Find(Packet(8), 0, SECOND), std::nullopt);
    EXPECT_EQ(classes.Find(Packet(7, 6), 0, SECOND), std::nullopt);
    EXPECT_EQ(classes.Find(Packet(7), 1, SECOND), std::nullopt) << "what enters at another station is another's packet";
    auto back = Packet(7);
    std::swap(back.source, back.destination);
    EXPECT_EQ(classes.Find(back, 0, SECOND), std::nullopt);
}

TEST(FragmentClasses, ForgetsAPacketAfterTheTimeOfReassembly)
{
    FragmentClasses classes;
    classes.Remember(Packet(7), 0, 0, 3);
    EXPECT_EQ(classes.Find(Packet(7), 0, 60 * SECOND), 3);
    EXPECT_EQ(classes.Find(Packet(7), 0, 60 * SECOND + 1), std::nullopt);
    // Identifications come round again.
    classes.Remember(Packet(7), 0, 61 * SECOND, 4);
    EXPECT_EQ(classes.Find(Packet(7), 0, 61 * SECOND), 4);
}

TEST(FragmentClasses, AFloodTakesTheRoomOfItsOwnStationOnly)
{
    FragmentClasses classes;
    classes.Remember(Packet(7), 0, 0, 3);
    classes.Remember(Packet(7), 1, 0, 3);
    for (std::uint32_t i = 0; i < 65'536; ++i)
    {
        classes.Remember(Packet(i, 6), 1, SECOND + i, 5);
    }
    EXPECT_EQ(classes.Find(Packet(7), 0, 2 * SECOND), 3);
    EXPECT_EQ(classes.Find(Packet(7), 1, 2 * SECOND), std::nullopt);
    // The latest of a flood are still known: the oldest made room.
    EXPECT_EQ(classes.Find(Packet(65'535, 6), 1, 2 * SECOND), 5);
    std::size_t known = 0;
    for (std::uint32_t i = 0; i < 65'536; ++i)
    {
        known += classes.Find(Packet(i, 6), 1, 2 * SECOND).has_value();
    }
    EXPECT_EQ(known, FragmentClasses::CAPACITY);
}
