// SPDX-License-Identifier: GPL-2.0-or-later
#include "cascade.h"
#include "fifo.h"
#include "make_scheduler.h"
#include "scheduled.h"

#include <gtest/gtest.h>

using namespace netboxit;
using namespace netboxit::queueing;

namespace
{

constexpr std::uint32_t BYTES = 1000;

/// A queue of stations behind one in the order of arrival: packet n is for station n modulo `stations`.
class CascadeTest : public testing::Test
{
  protected:
    void Make(std::uint64_t prefetched, const Weights& stations)
    {
        const auto dropped = [](const Waiting&, Loss) { FAIL(); };
        const auto count = static_cast<std::uint32_t>(stations.size());
        cascade.emplace(std::make_unique<Fifo>(Room(), dropped),
                        std::make_unique<Scheduled>(Room(), stations.size(), MakeScheduler("drr", stations, BYTES), dropped),
                        prefetched,
                        [count](Waiting frame)
                        {
                            frame.flow = frame.item % count;
                            return frame;
                        });
    }

    void Put(std::uint32_t count)
    {
        for (std::uint32_t number = 0; number < count; ++number)
        {
            cascade->Enqueue({number, BYTES, number}, number, 1e6);
        }
    }

    std::vector<std::uint32_t> Order()
    {
        std::vector<std::uint32_t> order;
        while (const auto frame = cascade->Dequeue(100))
        {
            order.push_back(frame->item);
        }
        return order;
    }

    std::optional<Cascade> cascade;
};

} // namespace

TEST_F(CascadeTest, WithNothingPrefetchedItIsTheFirstOne)
{
    Make(0, {1, 3});
    Put(6);
    EXPECT_EQ(Order(), (std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5}));
}

TEST_F(CascadeTest, TheSecondOneChoosesAmongWhatIsPrefetched)
{
    Make(4 * BYTES, {1, 3});
    Put(8);
    EXPECT_EQ(cascade->Packets(), 8u);
    EXPECT_EQ(cascade->Bytes(), 8u * BYTES);
    // Of 0 to 3 the second station's go first by its weight, while the next ones come in the order of arrival.
    const auto order = Order();
    for (std::uint32_t place = 0; place < order.size(); ++place)
    {
        EXPECT_LE(order[place], place + 3) << "more than four were prefetched";
    }
    EXPECT_NE(order, (std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5, 6, 7}));
    EXPECT_EQ(cascade->Bytes(), 0u);
}

TEST_F(CascadeTest, WhatIsOldIsFoundInBoth)
{
    Make(2 * BYTES, {1, 1});
    Put(5);
    std::vector<std::uint32_t> old;
    while (const auto frame = cascade->TakeOlder(4))
    {
        old.push_back(frame->item);
    }
    EXPECT_EQ(old, (std::vector<std::uint32_t>{0, 1, 2, 3}));
    EXPECT_EQ(Order(), (std::vector<std::uint32_t>{4}));
}
