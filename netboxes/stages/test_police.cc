// SPDX-License-Identifier: GPL-2.0-or-later
#include "police.h"

#include "test_frames.h"

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
/// 1 Mbit/s; ten packets of 1500 bytes at once.
const Json SETTINGS{{"rate", 1e6}, {"burst", 15'000}};

Json With(const Json& changed)
{
    auto settings = SETTINGS;
    settings.update(changed);
    return settings;
}

class PoliceTest : public ::testing::Test
{
  protected:
    /// So many of a number of packets pass at once.
    int Enter(Frame frame, int packets)
    {
        int passed = 0;
        for (int packet = 0; packet < packets; ++packet)
        {
            passed += police.Entering(frame, ReadHeaders(frame), now) ? 1 : 0;
        }
        return passed;
    }

    int Leave(Frame frame, int packets)
    {
        int passed = 0;
        for (int packet = 0; packet < packets; ++packet)
        {
            passed += police.Leaving(frame, ReadHeaders(frame), now) ? 1 : 0;
        }
        return passed;
    }

    std::int64_t now{};
    Police police{SETTINGS};
};

const auto PACKET = BuildUdp(1, 1500);

} // namespace

TEST_F(PoliceTest, DropsWhatExceedsRateAndBurst)
{
    EXPECT_EQ(Enter(PACKET, 100), 10);
    now += 24 * MS; // in which the rate sends 3000 bytes
    EXPECT_EQ(Enter(PACKET, 100), 2);
    now += 1000 * SECOND;
    EXPECT_EQ(Enter(PACKET, 100), 10);
    const auto read = police.Read(now);
    EXPECT_EQ(read["passed"], 22);
    EXPECT_EQ(read["passed_bytes"], 22 * 1500);
    EXPECT_EQ(read["dropped"], 278);
    EXPECT_EQ(read["dropped_bytes"], 278 * 1500);
}

TEST_F(PoliceTest, DirectionsHaveBucketsOfTheirOwn)
{
    EXPECT_EQ(Leave(PACKET, 100), 100); // it polices what enters, unless it is told
    EXPECT_EQ(police.Read(now)["passed"], 0);
    police = Police(With({{"direction", "leaving"}}));
    EXPECT_EQ(Enter(PACKET, 100), 100);
    EXPECT_EQ(Leave(PACKET, 100), 10);
    police = Police(With({{"direction", "both"}}));
    EXPECT_EQ(Enter(PACKET, 100), 10);
    EXPECT_EQ(Leave(PACKET, 100), 10);
}

TEST_F(PoliceTest, TheDefaultBurstIsAHundredMilliseconds)
{
    police = Police(Json{{"rate", 12e6}, {"burst", nullptr}});
    EXPECT_EQ(Enter(PACKET, 1000), 100);
    police = Police(Json{{"rate", 8000}});
    EXPECT_EQ(Enter(PACKET, 1000), 10);
}

TEST_F(PoliceTest, FramesOfAllKindsCount)
{
    Frame arp(60);
    arp[12] = 8;
    arp[13] = 6;
    EXPECT_EQ(Enter(PACKET, 10), 10);
    EXPECT_EQ(Enter(arp, 1), 0);
    auto tagged = PACKET;
    tagged.insert(tagged.begin() + 12, {0x81, 0, 0, 5});
    EXPECT_EQ(Enter(tagged, 1), 0);
    EXPECT_EQ(Enter(BuildUdp(1, 1500, 6), 1), 0);
}

TEST_F(PoliceTest, EachNodeHasAProfileOfItsOwn)
{
    police = Police(With({{"per", "node"}, {"direction", "both"}}));
    for (const auto version : {4, 6})
    {
        for (std::uint32_t node = 1; node <= 20; ++node)
        {
            EXPECT_EQ(Enter(BuildUdp(node, 1500, version), 100), 10);
        }
    }
    EXPECT_EQ(Leave(PACKET, 100), 10); // by destination
    EXPECT_EQ(Leave(BuildUdp(9, 1500), 100), 0);
    EXPECT_EQ(police.Read(now)["nodes"], 41);
    Frame arp(60);
    EXPECT_EQ(Enter(arp, 1), 1); // the bucket of all that has no address
    EXPECT_EQ(police.Read(now)["shared"], 0);
}

TEST_F(PoliceTest, AFloodOfForgedAddressesIsBoundedAndPassesNoNodesProfile)
{
    police = Police(With({{"per", "node"}}));
    EXPECT_EQ(Enter(PACKET, 9), 9);
    std::uint64_t passed = 0;
    auto forged = BuildUdp(0, 1500);
    for (std::uint32_t address = 100; address < 100'100; ++address)
    {
        WriteSource(forged, address);
        passed += police.Entering(forged, ReadHeaders(forged), now) ? 1 : 0;
    }
    const auto read = police.Read(now);
    EXPECT_EQ(read["nodes"], Meter::CAPACITY);
    EXPECT_EQ(read["shared"], 100'001 - Meter::CAPACITY);
    EXPECT_EQ(passed, Meter::CAPACITY - 1 + 10); // the rest share one bucket
    EXPECT_EQ(Enter(PACKET, 100), 1);            // neither more nor less than without the flood
    now += 119 * MS;
    EXPECT_EQ(Enter(BuildUdp(7, 1500), 100), 9); // buckets are not full again yet: one more node still shares
    now += 120 * MS;
    EXPECT_EQ(Enter(BuildUdp(8, 1500), 100), 10); // has a bucket of its own
    EXPECT_EQ(police.Read(now)["nodes"], Meter::CAPACITY);
}

TEST_F(PoliceTest, NewSettingsKeepWhatBucketsHave)
{
    for (const auto* per : {"port", "node"})
    {
        police = Police(With({{"per", per}}));
        EXPECT_EQ(Enter(PACKET, 100), 10);
        now += 12 * MS; // one packet by the rate until now
        police.Set(With({{"rate", 2e6}, {"per", per}}), now);
        EXPECT_EQ(Enter(PACKET, 100), 1);
        now += 12 * MS;
        EXPECT_EQ(Enter(PACKET, 100), 2);
        now += SECOND;
        police.Set(With({{"burst", 3000}, {"per", per}}), now);
        EXPECT_EQ(Enter(PACKET, 100), 2);
        EXPECT_EQ(police.Read(now)["passed"], 15);
    }
}

TEST_F(PoliceTest, RefusesSettingsThatMakeNoSenseAndThenKeepsItsOwn)
{
    constexpr auto NO_NUMBER = std::numeric_limits<double>::quiet_NaN();
    constexpr auto INFINITE = std::numeric_limits<double>::infinity();
    for (const auto& changed : {Json{{"rate", 0}},
                                Json{{"rate", -1}},
                                Json{{"rate", NO_NUMBER}},
                                Json{{"rate", INFINITE}},
                                Json{{"rate", 1e16}},
                                Json{{"rate", nullptr}},
                                Json{{"rate", "1 Mbit/s"}},
                                Json{{"burst", 1499}},
                                Json{{"burst", -1}},
                                Json{{"burst", NO_NUMBER}},
                                Json{{"burst", 1e16}},
                                Json{{"direction", "in"}},
                                Json{{"direction", 1}},
                                Json{{"per", "flow"}}})
    {
        EXPECT_THROW(Police{With(changed)}, std::invalid_argument) << changed;
        EXPECT_THROW(police.Set(With(changed), now), std::invalid_argument) << changed;
    }
    EXPECT_THROW(Police{Json::object()}, Json::exception);
    EXPECT_EQ(Enter(PACKET, 100), 10);
    try
    {
        Police{With({{"burst", 100}})};
        FAIL();
    }
    catch (const std::invalid_argument& error)
    {
        EXPECT_STREQ(error.what(), "police: burst is 100, not a number from 1500 to 1e+15");
    }
}

TEST_F(PoliceTest, HugeAndTinyRatesAreDefined)
{
    police = Police(Json{{"rate", 1e15}});
    now += 1'000'000'000 * SECOND;
    EXPECT_EQ(Enter(PACKET, 1000), 1000);
    police = Police(Json{{"rate", 1e-300}, {"per", "node"}});
    EXPECT_EQ(Enter(PACKET, 1000), 10);
}
