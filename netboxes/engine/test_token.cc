// SPDX-License-Identifier: GPL-2.0-or-later
#include "frame.h"

#include <gtest/gtest.h>

using namespace netboxit;

TEST(Token, NamesItsSlotAndHasTheLengthOfTheFrame)
{
    const auto packet = MakeToken({.slot = {77, 12345}, .length = 1500});
    EXPECT_EQ(packet->GetSize(), 1500u);
    EXPECT_EQ(ReadToken(packet), (SlotId{77, 12345}));
    EXPECT_EQ(ReadToken(packet->Copy()), (SlotId{77, 12345}));
}

TEST(Token, OfAShortFrameIsAsShortAsATokenCanBe)
{
    EXPECT_EQ(MakeToken({.slot = {}, .length = 1})->GetSize(), MINIMUM_TOKEN);
    EXPECT_TRUE(ReadToken(MakeToken({.slot = {}, .length = 0})).has_value());
}

TEST(Token, SurvivesBeingFragmented)
{
    const auto packet = MakeToken({.slot = {1, 2}, .length = 1000});
    const auto whole = packet->CreateFragment(0, 300);
    whole->AddAtEnd(packet->CreateFragment(300, 700));
    EXPECT_EQ(ReadToken(whole), (SlotId{1, 2}));
    EXPECT_EQ(whole->GetSize(), 1000u);
}

TEST(Token, OtherPacketsAreNone)
{
    EXPECT_FALSE(ReadToken(ns3::Create<ns3::Packet>(100)).has_value());
    EXPECT_FALSE(ReadToken(ns3::Create<ns3::Packet>(11)).has_value());
    EXPECT_FALSE(ReadToken(ns3::Create<ns3::Packet>()).has_value());
}

TEST(Token, ItsPaddingTakesNoMemory)
{
    // A packet that serialises to little more than its 12 bytes keeps its zeros virtual.
    const auto packet = MakeToken({.slot = {1, 2}, .length = 60'000});
    packet->AddPaddingAtEnd(4);
    EXPECT_LT(packet->GetSerializedSize(), 200u);
}
