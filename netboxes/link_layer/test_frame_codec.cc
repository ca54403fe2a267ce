// SPDX-License-Identifier: GPL-2.0-or-later
// Bytes of headers: section 4.2 and F6.2.
#include "frame_codec.h"

#include <gtest/gtest.h>

#include <random>

using namespace netboxit::multiservice;

namespace
{

std::vector<std::uint8_t> Encode(const AirFrame& frame, const HeaderFormat& format)
{
    std::array<std::uint8_t, LONGEST_HEADER> header{};
    const auto length = EncodeHeader(frame, format, header);
    return {header.begin(), header.begin() + static_cast<std::ptrdiff_t>(length)};
}

using Written = std::vector<std::uint8_t>;

} // namespace

TEST(FrameCodecTest, HeadersAreAsLongAsTheSourceSays)
{
    EXPECT_EQ((HeaderFormat{HeaderFields::Bare, 8}.Bytes()), 1);
    EXPECT_EQ((HeaderFormat{HeaderFields::Arq, 8}.Bytes()), 3);
    EXPECT_EQ((HeaderFormat{HeaderFields::Sequence, 8}.Bytes()), 2);
    EXPECT_EQ((HeaderFormat{HeaderFields::Block, 8}.Bytes()), 2);
    EXPECT_EQ((HeaderFormat{HeaderFields::Arq, 16}.Bytes()), 5);
    EXPECT_EQ((HeaderFormat{HeaderFields::Sequence, 9}.Bytes()), 3);
}

TEST(FrameCodecTest, TheServiceIsInTheHighNibbleOfTheFirstByte)
{
    EXPECT_EQ(Encode({.service = 11}, {HeaderFields::Bare}), (Written{0xb0}));
    EXPECT_EQ(ServiceOf(Written{0xb3, 1, 2}), ServiceId{11});
    EXPECT_EQ(ServiceOf({}), std::nullopt);
}

TEST(FrameCodecTest, FieldsFollowInTheirOrder)
{
    const AirFrame nak{.service = 2, .type = FrameType::Nak, .sequence = 0x12, .acknowledgement = 0x0f};
    EXPECT_EQ(Encode(nak, {HeaderFields::Arq, 8}), (Written{0x22, 0x12, 0x0f}));
    EXPECT_EQ(Encode(nak, {HeaderFields::Arq, 16}), (Written{0x22, 0x00, 0x12, 0x00, 0x0f}));
    const AirFrame keepalive{.service = 1, .type = FrameType::KeepAlive, .sequence = 0x1ff};
    EXPECT_EQ(Encode(keepalive, {HeaderFields::Sequence, 16}), (Written{0x13, 0x01, 0xff}));
    const AirFrame parity{.service = 15, .type = FrameType::Parity, .sequence = 8, .block = 5};
    EXPECT_EQ(Encode(parity, {HeaderFields::Block}), (Written{0xfb, 8}));
    EXPECT_EQ(Encode(parity, {HeaderFields::Sequence}), (Written{0xf4, 8}));
}

TEST(FrameCodecTest, WhatIsReadIsWhatWasWritten)
{
    std::mt19937 random(1);
    const std::vector<std::pair<HeaderFields, std::vector<FrameType>>> formats{
        {HeaderFields::Bare, {FrameType::Data}},
        {HeaderFields::Arq, {FrameType::Data, FrameType::Ack, FrameType::Nak}},
        {HeaderFields::Sequence, {FrameType::Data, FrameType::Nak, FrameType::KeepAlive, FrameType::Parity}},
        {HeaderFields::Block, {FrameType::Data, FrameType::Parity}}};
    for (const auto& [fields, types] : formats)
    {
        for (const unsigned bits : {3U, 8U, 9U, 16U})
        {
            for (int trial = 0; trial < 1000; ++trial)
            {
                const HeaderFormat format{fields, bits};
                const auto number = [&] { return static_cast<std::uint16_t>(random() & ((1U << bits) - 1)); };
                const AirFrame frame{.service = static_cast<ServiceId>(random() % MOST_SERVICES),
                                     .type = types[random() % types.size()],
                                     .sequence = number(),
                                     .acknowledgement = number(),
                                     .block = static_cast<std::uint8_t>(random() % 8)};
                auto bytes = Encode(frame, format);
                ASSERT_EQ(bytes.size(), format.Bytes());
                bytes.push_back(0x55); // the packet
                const auto read = DecodeHeader(bytes, format);
                ASSERT_TRUE(read);
                EXPECT_EQ(read->service, frame.service);
                EXPECT_EQ(read->type, frame.type);
                EXPECT_EQ(read->headerBytes, format.Bytes());
                EXPECT_EQ(read->sequence, fields == HeaderFields::Bare ? 0 : frame.sequence);
                EXPECT_EQ(read->acknowledgement, fields == HeaderFields::Arq ? frame.acknowledgement : 0);
                EXPECT_EQ(read->block, fields == HeaderFields::Block ? frame.block : 0);
            }
        }
    }
}

TEST(FrameCodecTest, NothingIsReadFromBytesThatAreNoHeader)
{
    EXPECT_FALSE(DecodeHeader({}, {HeaderFields::Bare}));
    EXPECT_FALSE(DecodeHeader(Written{0x21}, {HeaderFields::Bare}));           // the nibble is unused
    EXPECT_FALSE(DecodeHeader(Written{0x20, 1}, {HeaderFields::Arq, 8}));      // cut short
    EXPECT_FALSE(DecodeHeader(Written{0x24, 1, 2}, {HeaderFields::Arq, 8}));   // no parity in ARQ
    EXPECT_FALSE(DecodeHeader(Written{0x2f, 1, 2}, {HeaderFields::Arq, 8}));   // no type
    EXPECT_FALSE(DecodeHeader(Written{0x21, 1}, {HeaderFields::Sequence, 8})); // no ACK in RLP
}
