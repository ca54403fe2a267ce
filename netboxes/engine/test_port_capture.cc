// SPDX-License-Identifier: GPL-2.0-or-later
#include "port_capture.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <thread>

namespace netboxit
{

namespace
{

/// The thread writes to a pipe that nobody reads until all frames have come.
TEST(PortCapture, CountsWhatItsThreadCannotWriteInTimeAndKeepsTheRestWhole)
{
    constexpr std::uint64_t FRAMES = 200'000;
    const auto path = ::testing::TempDir() + "netboxit-capture.pcapng";
    const auto pipe = ::testing::TempDir() + "netboxit-capture.pipe";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    const int end = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    ASSERT_GE(end, 0);
    std::uint64_t taken = 0;
    std::thread drain;
    {
        PortCapture capture(pipe, FRAMES + 1, std::chrono::hours(1));
        while (capture.Read()["state"] == "starting")
        {
            std::this_thread::yield();
        }
        for (std::uint64_t number = 0; number < FRAMES; ++number)
        {
            const std::vector<std::uint8_t> frame(60 + number % 1455, static_cast<std::uint8_t>(number));
            capture.Add(PacketDirection::Inbound, static_cast<std::int64_t>(number), frame);
        }
        const auto told = capture.Read();
        taken = told["frames"];
        EXPECT_EQ(taken + told["dropped"].get<std::uint64_t>(), FRAMES);
        EXPECT_GT(told["dropped"], 0u);
        ::fcntl(end, F_SETFL, 0);
        drain = std::thread(
            [end, &path]
            {
                std::ofstream file(path, std::ios::binary);
                std::array<char, 1 << 16> some;
                for (auto length = ::read(end, some.data(), some.size()); length > 0; length = ::read(end, some.data(), some.size()))
                {
                    file.write(some.data(), length);
                }
            });
    }
    drain.join();
    ::close(end);
    std::filesystem::remove(pipe);
    PcapngReader reader(path);
    std::uint64_t read = 0;
    for (auto packet = reader.Next(); packet; packet = reader.Next(), ++read)
    {
        const auto number = static_cast<std::uint64_t>(packet->timeNs);
        ASSERT_EQ(packet->data.size(), 60 + number % 1455);
        ASSERT_TRUE(std::ranges::all_of(packet->data,
                                        [=](auto byte) { return byte == static_cast<std::uint8_t>(number); }));
    }
    EXPECT_EQ(read, taken);
    std::filesystem::remove(path);
}

} // namespace

} // namespace netboxit
