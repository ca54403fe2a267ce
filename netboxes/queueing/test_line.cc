// SPDX-License-Identifier: GPL-2.0-or-later
#include "line.h"

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <random>

using namespace netboxit::queueing;

TEST(Line, LinesOfOnePoolKeepEachItsOwnOrder)
{
    // Each beside a deque, which is what a line is.
    WaitingPool pool;
    std::vector<Line> lines(5, Line(pool));
    std::array<std::deque<std::uint32_t>, 5> expected;
    std::mt19937 random(1);
    const auto below = [&random](std::size_t limit) { return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random); };
    for (std::uint32_t turn = 0; turn < 20'000; ++turn)
    {
        const auto at = below(lines.size());
        auto& line = lines[at];
        auto& frames = expected[at];
        // More come than go, then fewer, so that lines are empty again and again.
        if (below(10) < (turn / 500 % 2 == 0 ? 6U : 3U))
        {
            line.Push({.item = turn, .bytes = 40 + turn % 1000});
            frames.push_back(turn);
        }
        else if (!frames.empty() && below(4) > 0)
        {
            ASSERT_EQ(line.Front().item, frames.front());
            ASSERT_EQ(line.Pop().item, frames.front());
            frames.pop_front();
        }
        else if (!frames.empty())
        {
            ASSERT_EQ(line.PopNewest().item, frames.back());
            frames.pop_back();
        }
        std::uint64_t bytes = 0;
        for (const auto item : frames)
        {
            bytes += 40 + item % 1000;
        }
        ASSERT_EQ(line.IsEmpty(), frames.empty());
        ASSERT_EQ(line.Packets(), frames.size());
        ASSERT_EQ(line.Bytes(), bytes);
    }
}
