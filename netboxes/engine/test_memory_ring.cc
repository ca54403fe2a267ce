// SPDX-License-Identifier: GPL-2.0-or-later
#include "test_memory_wire.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace netboxit
{

namespace
{

/// A ring with both its sides in this process, and a third that does what it should not.
struct Ring : ::testing::Test
{
    TestWire wire;
    RingMemory memory{"test", wire.Ring()};
    RingHeader& header{memory.Header()};
    RingWriter writer{"test", wire.Ring()};
    RingReader reader{"test", wire.Ring()};

    bool Send(std::size_t length, std::uint8_t filling, std::int64_t stamp = 0)
    {
        const bool put = writer.Put(std::vector<std::uint8_t>(length, filling), stamp);
        writer.Publish();
        return put;
    }

    /// True when the next frame is this one.
    bool Receives(std::size_t length, std::uint8_t filling, std::int64_t stamp = 0)
    {
        const auto record = reader.Next();
        const bool same = record && record->frame.size() == length && record->stamp == stamp &&
                          std::ranges::all_of(record->frame, [=](auto byte) { return byte == filling; });
        reader.Release();
        return same;
    }
};

TEST_F(Ring, PassesFramesInOrderWithTheirStamps)
{
    EXPECT_FALSE(reader.HasFrames());
    EXPECT_FALSE(reader.Next());
    Send(60, 1, 1'700'000'000'000'000'001);
    Send(1514, 2, -5);
    Send(0, 3);
    EXPECT_TRUE(reader.HasFrames());
    EXPECT_TRUE(Receives(60, 1, 1'700'000'000'000'000'001));
    EXPECT_TRUE(Receives(1514, 2, -5));
    EXPECT_TRUE(Receives(0, 3));
    EXPECT_FALSE(reader.HasFrames());
}

TEST_F(Ring, ShowsNothingBeforeItIsPublished)
{
    writer.Put(std::vector<std::uint8_t>(60), 0);
    EXPECT_FALSE(reader.HasFrames());
    EXPECT_FALSE(reader.Next());
    writer.Publish();
    EXPECT_TRUE(Receives(60, 0));
}

TEST_F(Ring, WrapsAroundWithFramesOfEveryLength)
{
    std::mt19937 chance(7);
    for (unsigned number = 0; number < 20'000; ++number)
    {
        const std::size_t length = chance() % 9234;
        ASSERT_TRUE(Send(length, static_cast<std::uint8_t>(number), number));
        ASSERT_TRUE(Receives(length, static_cast<std::uint8_t>(number), number)) << number << ": " << length;
    }
    EXPECT_EQ(reader.Resets(), 0u);
    EXPECT_EQ(reader.TakeDrops(), 0u);
}

TEST_F(Ring, DropsAndCountsWhatFindsNoRoomAndKeepsWhatItHas)
{
    constexpr std::uint64_t FIT = TestWire::CAPACITY / 80;
    for (std::uint64_t number = 0; number < FIT + 10; ++number)
    {
        EXPECT_EQ(Send(64, static_cast<std::uint8_t>(number)), number < FIT);
    }
    EXPECT_EQ(reader.TakeDrops(), 10u);
    EXPECT_EQ(reader.TakeDrops(), 0u);
    for (std::uint64_t number = 0; number < FIT; ++number)
    {
        ASSERT_TRUE(Receives(64, static_cast<std::uint8_t>(number)));
    }
    EXPECT_TRUE(Send(64, 1));
    EXPECT_TRUE(Receives(64, 1));
}

TEST_F(Ring, KeepsAFrameInPlaceUntilItIsReleased)
{
    Send(20'000, 1);
    const auto record = reader.Next();
    while (Send(20'000, 2))
    {
    }
    EXPECT_TRUE(std::ranges::all_of(record->frame, [](auto byte) { return byte == 1; }));
    reader.Release();
    EXPECT_TRUE(Send(20'000, 3));
}

TEST_F(Ring, DropsAFrameThatCanNeverFit)
{
    EXPECT_FALSE(Send(TestWire::CAPACITY, 1));
    EXPECT_EQ(reader.TakeDrops(), 1u);
    EXPECT_TRUE(Send(60, 2));
    EXPECT_TRUE(Receives(60, 2));
}

TEST_F(Ring, DiscardsWhatIsOldWhenTheConsumerRestarts)
{
    while (Send(1000, 1))
    {
    }
    RingReader restarted("test", wire.Ring());
    EXPECT_FALSE(restarted.HasFrames());
    EXPECT_EQ(restarted.TakeDrops(), 0u) << "drops of before it started";
    EXPECT_TRUE(Send(60, 2));
    EXPECT_EQ(restarted.Next()->frame.size(), 60u);
}

TEST_F(Ring, GoesOnAtHeadWhenTheProducerRestarts)
{
    Send(60, 1);
    writer.Put(std::vector<std::uint8_t>(60), 0); // never published
    RingWriter restarted("test", wire.Ring());
    restarted.Put(std::vector<std::uint8_t>(100, 2), 0);
    restarted.Publish();
    EXPECT_TRUE(Receives(60, 1));
    EXPECT_TRUE(Receives(100, 2));
    EXPECT_FALSE(reader.HasFrames());
}

TEST_F(Ring, SaysOnceToWakeAConsumerThatSleeps)
{
    writer.Put({}, 0);
    EXPECT_FALSE(writer.Publish());
    Receives(0, 0);
    EXPECT_TRUE(reader.Sleep());
    writer.Put({}, 0);
    EXPECT_TRUE(writer.Publish());
    EXPECT_FALSE(writer.Publish());
    writer.Put({}, 0);
    EXPECT_FALSE(writer.Publish());
    EXPECT_TRUE(reader.Wake());
    EXPECT_FALSE(reader.Sleep()) << "there are frames";
    Receives(0, 0);
    Receives(0, 0);
    EXPECT_TRUE(reader.Sleep());
    EXPECT_FALSE(reader.Wake()) << "nobody saw it sleeping";
}

TEST_F(Ring, StartsAnewAfterARecordThatCannotBe)
{
    for (const std::uint64_t length :
         {std::uint64_t{61}, TestWire::CAPACITY, std::uint64_t{0xffff'ffff}, std::uint64_t{1} << 32, ~0ul})
    {
        const auto place = header.head.load() % TestWire::CAPACITY;
        Send(40, 1);
        Send(40, 2);
        std::memcpy(memory.Data() + place, &length, sizeof length);
        const auto resets = reader.Resets();
        // 61 bytes reach into the second record, whose own bytes are no header.
        while (reader.Next())
        {
        }
        reader.Release();
        EXPECT_GT(reader.Resets(), resets) << length;
        EXPECT_FALSE(reader.HasFrames());
        Send(60, 3);
        EXPECT_TRUE(Receives(60, 3)) << length;
    }
}

TEST_F(Ring, StartsAnewAfterAHeadThatCannotBe)
{
    for (const std::uint64_t wrong :
         {TestWire::CAPACITY + 16, std::uint64_t{8}, ~0ul, std::uint64_t{1} << 63})
    {
        const auto head = header.head.load();
        header.head.store(head + wrong);
        EXPECT_TRUE(reader.HasFrames());
        EXPECT_FALSE(reader.Next());
        reader.Release();
        EXPECT_FALSE(reader.HasFrames()) << "it must not keep its reader from sleeping";
        Send(60, 1); // the producer knows better
        reader.Next();
        reader.Release();
        Send(60, 2);
        EXPECT_TRUE(Receives(60, 2)) << wrong;
    }
}

TEST_F(Ring, IsFullForItsProducerWhileTheTailCannotBe)
{
    header.tail.store(header.head.load() + 16);
    while (Send(9000, 1)) // what it knows from before
    {
    }
    header.tail.store(header.head.load() + 16);
    EXPECT_FALSE(Send(9000, 2));
    while (Receives(9000, 1))
    {
    }
    header.tail.store(~0ul);
    EXPECT_FALSE(Send(9000, 3));
    EXPECT_TRUE(reader.Sleep());
    EXPECT_TRUE(Send(60, 4)) << "a consumer that waits has said again where it is";
}

TEST_F(Ring, NeverReadsOutsideWhateverStandsThere)
{
    std::mt19937_64 chance(11);
    std::uint64_t sum = 0;
    for (unsigned round = 0; round < 2'000; ++round)
    {
        for (std::uint64_t place = 0; place < TestWire::CAPACITY; place += 512)
        {
            const std::uint64_t noise = chance() >> chance() % 64;
            std::memcpy(memory.Data() + place + chance() % 32 * 16, &noise, sizeof noise);
        }
        header.head.fetch_add(chance() >> chance() % 64);
        for (auto record = reader.Next(); record; record = reader.Next())
        {
            ASSERT_LE(record->frame.size(), TestWire::CAPACITY);
            // Outside of the ring's pages there are none.
            sum = std::accumulate(record->frame.begin(), record->frame.end(), sum);
        }
        reader.Release();
    }
    EXPECT_GT(reader.Resets(), 0u) << sum;
}

TEST(RingFile, IsRefusedWhenItIsNoRing)
{
    const TestWire wire;
    EXPECT_THROW(RingMemory("port x", wire.Path("nowhere")), std::system_error);
    std::filesystem::resize_file(wire.Ring(), 4096 + 1024);
    try
    {
        const RingMemory memory("port x", wire.Ring());
        FAIL() << "was taken for a ring";
    }
    catch (const std::runtime_error& error)
    {
        EXPECT_NE(std::string(error.what()).find("port x: cannot open the ring " + wire.Ring()),
                  std::string::npos);
    }
}

} // namespace

} // namespace netboxit
