// SPDX-License-Identifier: GPL-2.0-or-later
#include "fair_budget.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <stdexcept>

using namespace netboxit::middleware;

namespace
{

/// As many random cases for each property.
constexpr int CASES = 100'000;

struct Case
{
    Rate rate;
    std::uint32_t members;
};

/// Rates and numbers of members of all sizes.
Case RandomCase(std::mt19937_64& random)
{
    const auto rate = std::uniform_int_distribution<Rate>{0, MOST_RATE}(random) >> std::uniform_int_distribution{0, 49}(random);
    const auto members = std::uniform_int_distribution<std::uint32_t>{1, 65'536}(random) >> std::uniform_int_distribution{0, 15}(random);
    return {.rate = rate, .members = std::max(members, 1U)};
}

FairBudget Made(const Case& drawn)
{
    FairBudget budget(drawn.rate);
    budget.Join(drawn.members);
    return budget;
}

} // namespace

TEST(FairBudget, DividesTheRateAsTheSourceDoes)
{
    FairBudget budget(20'000'000);
    EXPECT_EQ(budget.Share(), 20'000'000);
    budget.Join(10);
    EXPECT_EQ(budget.Share(), 2'000'000);
    budget.Leave(5);
    EXPECT_EQ(budget.Share(), 4'000'000);
    budget.SetRate(1'000'000);
    EXPECT_EQ(budget.Share(), 200'000);
}

TEST(FairBudget, NeverAssignsMoreThanTheRate)
{
    std::mt19937_64 random(1);
    for (int number = 0; number < CASES; ++number)
    {
        const auto drawn = RandomCase(random);
        const auto budget = Made(drawn);
        ASSERT_LE(budget.Assigned(), drawn.rate);
        ASSERT_GE(budget.Share(), 0);
    }
}

TEST(FairBudget, LeavesLessThanOneBitPerSecondForEachMemberUnassigned)
{
    std::mt19937_64 random(2);
    for (int number = 0; number < CASES; ++number)
    {
        const auto drawn = RandomCase(random);
        ASSERT_LT(drawn.rate - Made(drawn).Assigned(), static_cast<Rate>(drawn.members));
    }
}

TEST(FairBudget, IsMonotone)
{
    std::mt19937_64 random(3);
    for (int number = 0; number < CASES; ++number)
    {
        const auto drawn = RandomCase(random);
        auto budget = Made(drawn);
        const auto share = budget.Share();
        budget.Join();
        ASSERT_LE(budget.Share(), share) << "another member";
        budget.Leave();
        ASSERT_EQ(budget.Share(), share) << "which leaves again";
        budget.SetRate(drawn.rate + 1);
        ASSERT_GE(budget.Share(), share) << "more rate";
    }
}

TEST(FairBudget, TakesARateBelowZeroForNone)
{
    FairBudget budget(-5);
    budget.Join(3);
    EXPECT_EQ(budget.Share(), 0);
    EXPECT_EQ(budget.Assigned(), 0);
}

TEST(FairBudget, RefusesToCountWrong)
{
    FairBudget budget(1);
    EXPECT_THROW(budget.Leave(), std::underflow_error);
    budget.Join(0xffffffff);
    EXPECT_THROW(budget.Join(), std::overflow_error);
}
