// SPDX-License-Identifier: GPL-2.0-or-later
#include "slots.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

using namespace netboxit;

TEST(SlotTable, HoldsAsManyFramesAsItSaysAndNoMore)
{
    SlotTable table(100, 1518, 2);
    std::set<Slot*> taken;
    for (int i = 0; i < 100; ++i)
    {
        auto* slot = table.Take();
        ASSERT_NE(slot, nullptr);
        EXPECT_GE(slot->room.size(), 1518u);
        taken.insert(slot);
    }
    EXPECT_EQ(taken.size(), 100u);
    EXPECT_EQ(table.Take(), nullptr);
    table.Release(**taken.begin());
    EXPECT_EQ(table.Take(), *taken.begin());
}

TEST(SlotTable, RoomsDoNotOverlap)
{
    SlotTable table(65, 60, 2);
    std::vector<std::pair<const std::uint8_t*, const std::uint8_t*>> rooms;
    while (auto* slot = table.Take())
    {
        rooms.emplace_back(slot->room.data(), slot->room.data() + slot->room.size());
    }
    std::ranges::sort(rooms);
    for (std::size_t i = 1; i < rooms.size(); ++i)
    {
        EXPECT_GE(rooms[i].first, rooms[i - 1].second);
    }
}

TEST(SlotTable, AStaleNameFindsNothing)
{
    SlotTable table(1, 1518, 2);
    auto* slot = table.Take();
    EXPECT_EQ(table.Find(slot->Id()), nullptr) << "not admitted yet";
    table.Admit(*slot, 0);
    const auto first = slot->Id();
    EXPECT_EQ(table.Find(first), slot);
    table.Release(*slot);
    EXPECT_EQ(table.Find(first), nullptr);
    table.Admit(*table.Take(), 1);
    EXPECT_EQ(table.Find(first), nullptr) << "the slot holds another frame now";
    EXPECT_EQ(table.Find({12345, 1}), nullptr);
    EXPECT_EQ(table.Find({UINT32_MAX, UINT32_MAX}), nullptr);
}

TEST(SlotTable, FramesAreOrderedByAdmissionWhateverLeavesBetween)
{
    SlotTable table(8, 1518, 2);
    std::vector<Slot*> slots;
    for (int i = 0; i < 4; ++i)
    {
        slots.push_back(table.Take());
        table.Admit(*slots.back(), i);
    }
    EXPECT_EQ(table.Oldest(), slots[0]);
    table.Release(*slots[1]);
    EXPECT_EQ(table.After(*slots[0]), slots[2]);
    table.Release(*slots[0]);
    EXPECT_EQ(table.Oldest(), slots[2]);
    table.Release(*slots[3]);
    EXPECT_EQ(table.After(*slots[2]), nullptr);
    table.Release(*slots[2]);
    EXPECT_EQ(table.Oldest(), nullptr);
    EXPECT_EQ(table.Admitted(), 0u);
}

TEST(Slot, EachStationSettlesOnce)
{
    SlotTable table(1, 60, 130);
    auto* slot = table.Take();
    slot->Await(0);
    slot->Await(129);
    EXPECT_EQ(slot->Outstanding(), 2u);
    EXPECT_TRUE(slot->Settle(129));
    EXPECT_FALSE(slot->Settle(129));
    EXPECT_FALSE(slot->Settle(64));
    EXPECT_FALSE(slot->Settle(60000));
    EXPECT_EQ(slot->Outstanding(), 1u);
}
