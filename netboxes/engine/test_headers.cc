// SPDX-License-Identifier: GPL-2.0-or-later
#include "bridge.h"
#include "classifier.h"
#include "identity.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>

using namespace netboxit;

namespace
{

/// Exactly these bytes and none behind them, so that a checker of memory sees every step beyond.
std::unique_ptr<std::uint8_t[]> Exactly(const std::vector<std::uint8_t>& bytes)
{
    auto copy = std::make_unique<std::uint8_t[]>(bytes.size());
    std::ranges::copy(bytes, copy.get());
    return copy;
}

const auto CLASSES = nlohmann::json::parse(R"([
    {"name": "voice", "match": {"dscp": [46], "protocol": "udp", "ports": [[5060, 5061]], "source": "10.0.0.0/9"}},
    {"name": "ports", "match": {"ports": [[0, 65535]]}}])");

} // namespace

TEST(Headers, AnyBytesOfAnyLengthAreReadWithinTheFrame)
{
    std::mt19937 random(7);
    Classifier classifier(CLASSES);
    Bridge bridge;
    constexpr std::array<std::uint16_t, 7> types{0x0800, 0x86dd, 0x8100, 0x88a8, 0x0806, 0x8808, 0x0026};
    constexpr std::array<std::uint8_t, 8> nextHeaders{0, 43, 44, 51, 60, 135, 17, 50};
    for (int i = 0; i < 200'000; ++i)
    {
        std::vector<std::uint8_t> bytes(ETHERNET_HEADER + random() % 120);
        std::ranges::generate(bytes, random);
        const auto type = types[random() % types.size()];
        bytes[12] = type >> 8;
        bytes[13] = static_cast<std::uint8_t>(type);
        if (bytes.size() > 21 && random() % 4 != 0)
        {
            // Mostly versions that fit, lengths that are small, and extension headers behind one another.
            bytes[14] = type == 0x0800 ? 0x40 | (random() % 16) : 0x60;
            bytes[16] = bytes[18] = 0;
            bytes[20] = nextHeaders[random() % nextHeaders.size()];
            for (std::size_t at = 54; at + 1 < bytes.size(); at += 8)
            {
                bytes[at] = nextHeaders[random() % nextHeaders.size()];
                bytes[at + 1] = random() % 3;
            }
        }
        const auto exact = Exactly(bytes);
        const Bytes frame(exact.get(), bytes.size());
        const auto headers = ReadHeaders(frame);
        EXPECT_LE(headers.length, frame.size() - ETHERNET_HEADER);
        EXPECT_LE(classifier.Classify(headers, static_cast<StationId>(i % 3), i), 2);
        Identity(headers);
        bridge.Decide(headers, 0, i);
    }
    EXPECT_LE(bridge.Learned(), 16384u) << "invented addresses must not fill the memory";
}

TEST(Bridge, ForgetsAgedAddressesWhenItIsFull)
{
    Bridge bridge;
    Headers headers;
    for (std::uint32_t i = 0; i < 20'000; ++i)
    {
        headers.source = {2,
                          0,
                          static_cast<std::uint8_t>(i >> 16),
                          static_cast<std::uint8_t>(i >> 8),
                          static_cast<std::uint8_t>(i),
                          0};
        bridge.Decide(headers, 0, 0);
    }
    EXPECT_EQ(bridge.Learned(), 16384u);
    headers.source = {4, 0, 0, 0, 0, 1};
    bridge.Decide(headers, 0, 301'000'000'000);
    EXPECT_EQ(bridge.Learned(), 1u);
}

TEST(Headers, TheTransportIsBehindAllExtensionHeadersAndKnownToBeAuthenticated)
{
    for (const bool authenticated : {false, true})
    {
        std::vector<std::uint8_t> frame(ETHERNET_HEADER + 40 + 8 + (authenticated ? 24 : 8) + 4);
        frame[12] = 0x86;
        frame[13] = 0xdd;
        frame[14] = 0x60;
        frame[19] = static_cast<std::uint8_t>(frame.size() - ETHERNET_HEADER - 40);
        frame[20] = 0; // hop-by-hop options, of 8 bytes
        frame[54] = authenticated ? 51 : 60; // then an authentication header of 24 bytes, or options of 8
        frame[62] = 6; // then TCP
        frame[63] = authenticated ? 4 : 0; // RFC 4302, section 2.2: words of 4 bytes, less 2
        const auto ip = ReadHeaders(frame).ip;
        ASSERT_TRUE(ip);
        EXPECT_EQ(ip->protocol, 6);
        EXPECT_EQ(ip->transport.data(), frame.data() + frame.size() - 4);
        EXPECT_EQ(ip->transport.size(), 4u);
        EXPECT_EQ(ip->isAuthenticated, authenticated);
        EXPECT_EQ(ip->payload.size(), frame[19]) << "as it was";
    }
}
