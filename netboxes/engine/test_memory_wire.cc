// SPDX-License-Identifier: GPL-2.0-or-later
#include "test_memory_wire.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <chrono>
#include <thread>

namespace netboxit
{

namespace
{

using std::chrono::steady_clock;

bool IsReadable(const MemoryWire& wire, int patienceMs)
{
    pollfd waiting{wire.Descriptor(), POLLIN, 0};
    return ::poll(&waiting, 1, patienceMs) > 0;
}

std::vector<std::uint8_t> Numbered(std::uint64_t number, std::size_t length)
{
    std::vector<std::uint8_t> frame(length, static_cast<std::uint8_t>(number));
    std::memcpy(frame.data(), &number, sizeof number);
    return frame;
}

std::size_t LengthOf(std::uint64_t number)
{
    return 8 + number * 31 % (number % 64 == 0 ? 1500 : 150);
}

/// Sends frames of many lengths, a few at a time, until all have found room.
void Produce(MemoryWire& wire, std::uint64_t frames)
{
    for (std::uint64_t number = 0; number < frames;)
    {
        for (unsigned i = 0; i < number % 101 + 1 && number < frames; ++i)
        {
            const bool put = wire.Outgoing().Put(Numbered(number, LengthOf(number)), 0);
            number += put ? 1 : 0;
        }
        wire.Publish();
    }
}

/// Receives frames, sleeping whenever there are none, and returns the number of those that came in order;
/// stops at the first that did not, or when none came for long.
std::uint64_t Consume(MemoryWire& wire, std::uint64_t frames)
{
    constexpr int PATIENCE_MS = 5'000;
    std::uint64_t next = 0;
    while (next < frames)
    {
        for (auto record = wire.Incoming().Next(); record; record = wire.Incoming().Next())
        {
            if (!std::ranges::equal(record->frame, Numbered(next, LengthOf(next))))
            {
                return next;
            }
            ++next;
        }
        wire.Incoming().Release();
        if (wire.BeginWait())
        {
            const bool rung = IsReadable(wire, PATIENCE_MS);
            wire.EndWait();
            if (!rung)
            {
                return next;
            }
            if (!wire.Incoming().HasFrames())
            {
                wire.Silence();
            }
        }
    }
    return next;
}

TEST(MemoryWire, PassesMillionsOfFramesInOrderBetweenTwoThreads)
{
    constexpr std::uint64_t FRAMES = 2'000'000;
    const TestWire folder(1 << 18);
    MemoryWire left("left", folder.Folder(), WireEnd::Left);
    MemoryWire right("right", folder.Folder(), WireEnd::Right);
    std::thread producer([&] { Produce(left, FRAMES); });
    EXPECT_EQ(Consume(right, FRAMES), FRAMES);
    producer.join();
    EXPECT_EQ(right.Incoming().Resets(), 0u);
}

/// Each side sleeps after every frame: a wake-up that is lost stops both.
TEST(MemoryWire, NeverLosesAWakeUp)
{
    const TestWire folder;
    MemoryWire left("left", folder.Folder(), WireEnd::Left);
    MemoryWire right("right", folder.Folder(), WireEnd::Right);
    const auto until = steady_clock::now() + std::chrono::seconds(1);
    const auto turn = [](MemoryWire& wire, std::uint64_t number)
    {
        wire.Outgoing().Put(Numbered(number, 8), 0);
        wire.Publish();
    };
    const auto await = [](MemoryWire& wire) -> std::optional<std::uint64_t>
    {
        while (!wire.Incoming().HasFrames())
        {
            if (wire.BeginWait())
            {
                const bool rung = IsReadable(wire, 5'000);
                wire.EndWait();
                if (!rung)
                {
                    return std::nullopt;
                }
                if (!wire.Incoming().HasFrames())
                {
                    wire.Silence();
                }
            }
        }
        std::uint64_t number{};
        const auto record = wire.Incoming().Next();
        std::memcpy(&number, record->frame.data(), sizeof number);
        wire.Incoming().Release();
        return number;
    };
    std::thread echo(
        [&]
        {
            for (auto number = await(right); number && *number != 0; number = await(right))
            {
                turn(right, *number);
            }
        });
    std::uint64_t number = 1;
    for (; steady_clock::now() < until; ++number)
    {
        turn(left, number);
        ASSERT_EQ(await(left), number);
    }
    turn(left, 0);
    echo.join();
    EXPECT_GT(number, 100u);
}

TEST(MemoryWire, RingsForASleeperOnlyAndIsSilentAfterwards)
{
    const TestWire folder;
    MemoryWire left("left", folder.Folder(), WireEnd::Left);
    MemoryWire right("right", folder.Folder(), WireEnd::Right);
    left.Outgoing().Put(Numbered(1, 60), 0);
    left.Publish();
    EXPECT_FALSE(IsReadable(right, 0));
    right.Incoming().Next();
    right.Incoming().Release();
    ASSERT_TRUE(right.BeginWait());
    left.Outgoing().Put(Numbered(2, 60), 0);
    left.Publish();
    EXPECT_TRUE(IsReadable(right, 0));
    EXPECT_FALSE(IsReadable(left, 0));
    right.EndWait();
    EXPECT_FALSE(IsReadable(right, 0));
}

TEST(MemoryWire, IsNotHeldUpByAFarEndThatDiedAsleepOrRingsForNothing)
{
    const TestWire folder;
    MemoryWire left("left", folder.Folder(), WireEnd::Left);
    {
        MemoryWire right("right", folder.Folder(), WireEnd::Right);
        ASSERT_TRUE(right.BeginWait());
    }
    for (std::uint64_t number = 0; number < 100'000; ++number)
    {
        left.Outgoing().Put(Numbered(number, 60), 0);
        left.Publish();
    }
    MemoryWire right("right", folder.Folder(), WireEnd::Right);
    EXPECT_FALSE(right.Incoming().HasFrames());
    ASSERT_TRUE(right.BeginWait());
    EXPECT_TRUE(IsReadable(right, 0)) << "the bell of before";
    right.EndWait();
    right.Silence();
    EXPECT_FALSE(IsReadable(right, 0));
    left.Outgoing().Put(Numbered(1, 60), 0);
    left.Publish();
    EXPECT_TRUE(right.Incoming().HasFrames());
}

TEST(MemoryWire, HasOneProcessAtEachEnd)
{
    const TestWire folder;
    const MemoryWire left("port a", folder.Folder(), WireEnd::Left);
    try
    {
        const MemoryWire second("port b", folder.Folder(), WireEnd::Left);
        FAIL() << "two consumers";
    }
    catch (const std::system_error& error)
    {
        EXPECT_NE(std::string(error.what()).find("port b: another process holds this end of the wire"),
                  std::string::npos);
    }
}

} // namespace

} // namespace netboxit
