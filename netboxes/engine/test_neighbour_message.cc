// SPDX-License-Identifier: GPL-2.0-or-later
#include "neighbour_message.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>

using namespace netboxit;

namespace
{

/// Makes the checksum of an ICMPv6 message (behind Ethernet and IPv6, no tags) right: RFC 4443, 2.3.
void Seal(std::vector<std::uint8_t>& frame)
{
    constexpr std::size_t addresses = 22;
    constexpr std::size_t message = 54;
    frame[message + 2] = frame[message + 3] = 0;
    std::uint64_t sum = 58 + frame.size() - message;
    for (auto at = addresses; at < frame.size(); ++at)
    {
        sum += at % 2 == 0 ? frame[at] * 256 : frame[at];
    }
    while (sum > 0xffff)
    {
        sum = sum % 0x10000 + sum / 0x10000;
    }
    frame[message + 2] = static_cast<std::uint8_t>(~sum >> 8);
    frame[message + 3] = static_cast<std::uint8_t>(~sum);
}

} // namespace

TEST(NeighbourMessage, AnyBytesAreReadAndAnsweredWithinTheFrame)
{
    std::mt19937 random(11);
    constexpr std::array<std::uint8_t, 8> arp{0, 1, 8, 0, 6, 4, 0, 1};
    unsigned questions = 0;
    for (int i = 0; i < 200'000; ++i)
    {
        const bool isArp = i % 2 == 0;
        std::vector<std::uint8_t> bytes((isArp ? ETHERNET_HEADER : 58) + random() % 60);
        std::ranges::generate(bytes, random);
        bytes[12] = isArp ? 0x08 : 0x86;
        bytes[13] = isArp ? 0x06 : 0xdd;
        if (isArp && bytes.size() >= 22)
        {
            std::ranges::copy(arp, bytes.begin() + 14);
        }
        if (!isArp)
        {
            bytes[14] = 0x60;
            bytes[18] = 0;
            bytes[19] = static_cast<std::uint8_t>(bytes.size() - 54 - (random() % 8 == 0));
            bytes[20] = 58;
            bytes[21] = 255;
            bytes[54] = static_cast<std::uint8_t>(133 + random() % 4);
            bytes[55] = 0;
            // Options of all lengths, few of which end where the message does.
            for (std::size_t at = 78; at + 1 < bytes.size(); at += 8)
            {
                bytes[at] = random() % 4;
                bytes[at + 1] = random() % 3;
            }
            Seal(bytes);
        }
        // Exactly these bytes and none behind them, so that a checker of memory sees every step beyond.
        const auto exact = std::make_unique<std::uint8_t[]>(bytes.size());
        std::ranges::copy(bytes, exact.get());
        const Bytes frame(exact.get(), bytes.size());
        const auto headers = ReadHeaders(frame);
        const auto message = ReadNeighbourMessage(frame, headers);
        if (message && message->question)
        {
            ++questions;
            EXPECT_GE(AnswerOf(frame, headers, *message, {2, 0, 0, 0, 0, 9}, false).size(), 60u);
        }
    }
    EXPECT_GT(questions, 20'000u);
}
