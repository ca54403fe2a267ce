// SPDX-License-Identifier: GPL-2.0-or-later
#include "messages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

using namespace netboxit::middleware;

namespace
{

using Wire = std::vector<std::uint8_t>;

constexpr Key KEY{1, 2};
constexpr Terms TERMS{
    .epoch = 5, .share = 2'000'000, .lease = 16'000, .refresh = 4000, .members = 10, .good = 9, .announce = 4000};

/// One of each kind.
std::vector<Message> Examples()
{
    const Header fromMember{.domain = 7, .sequence = 3, .session = 0x0123456789abcdef, .instance = 0xfedcba9876543210};
    const Header toAll{.domain = 7, .instance = 0xfedcba9876543210};
    return {{fromMember, Join{.token = 9, .heldInstance = 8, .heldEpoch = 4, .heldMembers = 11}},
            {fromMember, Challenge{99}},
            {fromMember, Grant{.terms = TERMS, .budget = 500'000, .isBad = true, .reassigns = true}},
            {fromMember, Refused{.reason = Reason::PerHost, .retry = 4000}},
            {fromMember, Refresh{5}},
            {fromMember, Report{MOST_RATE}},
            {fromMember, Leave{}},
            {fromMember, Released{}},
            {toAll, Announcement{TERMS}}};
}

Fault FaultOf(const Wire& bytes, const Key& key = KEY)
{
    const auto read = ReadMessage(bytes, key);
    EXPECT_TRUE(std::holds_alternative<Fault>(read));
    return std::holds_alternative<Fault>(read) ? std::get<Fault>(read) : Fault{255};
}

/// With a new tag: as somebody writes who knows the key.
Wire Tagged(Wire bytes)
{
    std::fill_n(bytes.begin() + 8, 8, std::uint8_t{0});
    const auto tag = netboxit::SipHashOf(KEY, bytes);
    for (unsigned byte = 0; byte < 8; ++byte)
    {
        bytes[8 + byte] = static_cast<std::uint8_t>(tag >> (56 - 8 * byte));
    }
    return bytes;
}

} // namespace

TEST(Messages, AreReadAsTheyWereWritten)
{
    for (const auto& message : Examples())
    {
        const auto bytes = WriteMessage(message, KEY);
        EXPECT_EQ(bytes.size(), LengthOf(message.WhatKind()));
        const auto read = ReadMessage(bytes, KEY);
        ASSERT_TRUE(std::holds_alternative<Message>(read)) << NameOf(std::get<Fault>(read));
        EXPECT_EQ(std::get<Message>(read), message);
    }
}

/// README has the same bytes.
TEST(Messages, HaveTheDocumentedLayout)
{
    const auto bytes = WriteMessage(Examples()[4], {0, 0});
    const Wire beforeTag{0x4e, 0x42, 1, 5, 0, 48, 0, 0};
    const Wire behindTag{0,    0,    0,    7,    0,    0,    0,    3,    0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef,
                         0xfe, 0xdc, 0xba, 0x98, 0x76, 0x54, 0x32, 0x10, 0,    0,    0,    0,    0,    0,    0,    5};
    ASSERT_EQ(bytes.size(), 48U);
    EXPECT_TRUE(std::ranges::equal(std::span(bytes).first(8), beforeTag));
    EXPECT_TRUE(std::ranges::equal(std::span(bytes).subspan(16), behindTag));
    EXPECT_EQ(LengthOf(Kind::Join), LengthOf(Kind::Grant)) << "no answer is longer than what a stranger sent";
    EXPECT_GE(LengthOf(Kind::Join), LengthOf(Kind::Challenge));
}

TEST(Messages, AreRefusedWithTheReason)
{
    const auto good = WriteMessage(Examples()[4], KEY);
    const auto changed = [&good](std::size_t at, std::uint8_t value) {
        auto bytes = good;
        bytes[at] = value;
        return Tagged(bytes);
    };
    EXPECT_EQ(FaultOf({}), Fault::Size);
    EXPECT_EQ(FaultOf(Wire(65'535)), Fault::Size);
    EXPECT_EQ(FaultOf(changed(0, 0)), Fault::Magic);
    EXPECT_EQ(FaultOf(changed(2, 2)), Fault::Version);
    EXPECT_EQ(FaultOf(good, {1, 3}), Fault::Tag);
    EXPECT_EQ(FaultOf(changed(3, 0)), Fault::Kind);
    EXPECT_EQ(FaultOf(changed(3, 10)), Fault::Kind);
    EXPECT_EQ(FaultOf(changed(3, 7)), Fault::Length) << "a leave is shorter";
    EXPECT_EQ(FaultOf(changed(5, 47)), Fault::Length);
    EXPECT_EQ(FaultOf(changed(7, 1)), Fault::Value) << "reserved";
    EXPECT_EQ(FaultOf(changed(23, 0)), Fault::Value) << "sequence 0";
}

TEST(Messages, HaveNoRatesThatNoLinkHas)
{
    auto report = WriteMessage(Examples()[5], KEY);
    std::fill_n(report.begin() + 40, 8, std::uint8_t{0xff});
    EXPECT_EQ(FaultOf(Tagged(report)), Fault::Value) << "2^64 - 1 bit/s";
    for (const auto at : {40 + 8, 40 + 36})
    {
        auto grant = WriteMessage(Examples()[2], KEY);
        grant[static_cast<std::size_t>(at)] = 0x80;
        EXPECT_EQ(FaultOf(Tagged(grant)), Fault::Value);
    }
}

TEST(Messages, AreRefusedCutShortAtEachByte)
{
    for (const auto& message : Examples())
    {
        const auto bytes = WriteMessage(message, KEY);
        for (std::size_t length = 0; length < bytes.size(); ++length)
        {
            FaultOf({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length)});
        }
        auto longer = bytes;
        longer.push_back(0);
        FaultOf(longer);
    }
}

TEST(Messages, AreRefusedWithAnyBitChanged)
{
    for (const auto& message : Examples())
    {
        const auto bytes = WriteMessage(message, {0, 0});
        for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit)
        {
            auto changed = bytes;
            changed[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));
            FaultOf(changed, {0, 0});
        }
    }
}

/// A million times random bytes, changed messages, and changed ones with the right tag: what is read can be written, and is the same then.
TEST(Messages, OfAnyBytesAreRefusedOrReadExactly)
{
    std::mt19937_64 random(6);
    const auto examples = Examples();
    std::array<int, FAULTS> faults{};
    int read = 0;
    for (int number = 0; number < 1'000'000; ++number)
    {
        auto bytes = WriteMessage(examples[random() % examples.size()], KEY);
        if (number % 8 == 0)
        {
            bytes.resize(random() % 120);
            std::ranges::generate(bytes, [&random] { return static_cast<std::uint8_t>(random()); });
        }
        else
        {
            for (auto changes = 1 + random() % 3; changes-- > 0;)
            {
                bytes[random() % bytes.size()] = static_cast<std::uint8_t>(random());
            }
            if (random() % 16 == 0)
            {
                bytes.resize(random() % 100);
            }
        }
        if (bytes.size() >= 16 && number % 2 == 1)
        {
            bytes = Tagged(bytes);
        }
        const auto result = ReadMessage(bytes, KEY);
        if (const auto* message = std::get_if<Message>(&result))
        {
            ++read;
            ASSERT_EQ(WriteMessage(*message, KEY), bytes);
        }
        else
        {
            ++faults[static_cast<std::size_t>(std::get<Fault>(result))];
        }
    }
    EXPECT_GT(read, 100'000);
    EXPECT_GT(*std::ranges::min_element(faults), 1000);
}
