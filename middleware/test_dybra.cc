// SPDX-License-Identifier: GPL-2.0-or-later
#include "dybra.h"

#include "dybra_client.h"
#include "test_rational.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <stdexcept>
#include <vector>

using namespace netboxit::middleware;
using netboxit::middleware::testing::Rational;

namespace
{

constexpr Rate MBIT = 1'000'000;

/// A gateway with `members` good members.
struct Gateway
{
    Gateway(Rate rate, Equations equations, std::size_t members)
        : dybra(rate, equations),
          states(members)
    {
        dybra.Join(static_cast<std::uint32_t>(members));
    }

    bool Report(std::size_t member, Rate access)
    {
        return dybra.Report(states[member], access);
    }

    /// Which bad members return because of the share alone, the one with the most first, as the allocator does it.
    void Settle()
    {
        while (true)
        {
            const auto most = std::ranges::max_element(states, {}, [](const auto& state) { return state.isBad ? state.rate : -1; });
            if (!dybra.Returns(*most))
            {
                return;
            }
            dybra.Return(*most);
        }
    }

    Rate OfBad() const
    {
        return std::accumulate(
            states.begin(), states.end(), Rate{0}, [](Rate sum, const auto& state) { return sum + (state.isBad ? state.rate : 0); });
    }

    Dybra dybra;
    std::vector<DybraState> states;
};

/// The equations in exact fractions, written once more.
class Exact
{
  public:
    struct State
    {
        bool isBad{};
        Rational rate{};
    };

    Exact(Rational rate, int members, Equations equations)
        : effective(rate),
          good(members),
          m_equations(equations)
    {
    }

    Rational Share() const
    {
        return effective / Rational(std::max(good, 1));
    }

    void Report(State& state, Rational access)
    {
        if (!state.isBad)
        {
            if (access < Share())
            {
                --good;
                effective = effective - access;
                state = {.isBad = true, .rate = access};
            }
            return;
        }
        const auto isPrinted = m_equations == Equations::Printed;
        const auto share = isPrinted ? Share() : (effective + state.rate) / Rational(good + 1);
        if (access >= share)
        {
            ++good;
            effective = effective + (isPrinted ? Share() : state.rate);
            state = {};
            return;
        }
        effective = effective + state.rate - access;
        state.rate = access;
    }

    Rational effective;
    int good;

  private:
    Equations m_equations;
};

} // namespace

/// Section 2.3.3: shares of 2 Mbit/s; with five members at 0.5 the others have 3.5.
TEST(Dybra, GivesTheSourcesSharesInItsExperiment)
{
    Gateway gateway(20 * MBIT, Equations::Corrected, 10);
    EXPECT_EQ(gateway.dybra.Share(), 2 * MBIT);
    for (std::size_t member = 0; member < 5; ++member)
    {
        EXPECT_TRUE(gateway.Report(member, MBIT / 2));
    }
    EXPECT_EQ(gateway.dybra.Share(), 3'500'000);
    EXPECT_EQ(gateway.dybra.Effective(), 17'500'000);
    EXPECT_EQ(gateway.dybra.Assigned(), 20 * MBIT);
    for (std::size_t member = 0; member < 5; ++member)
    {
        EXPECT_TRUE(gateway.Report(member, 20 * MBIT));
    }
    EXPECT_EQ(gateway.dybra.Share(), 2 * MBIT);
    EXPECT_EQ(gateway.dybra.Effective(), 20 * MBIT);
}

/// The same, as printed: five returns make 385/12 = 32.08 Mbit/s of the 20.
TEST(Dybra, AssignsMoreThanTheLinkHasWithTheEquationAsPrinted)
{
    Gateway gateway(20 * MBIT, Equations::Printed, 10);
    Exact exact(20 * MBIT, 10, Equations::Printed);
    std::vector<Exact::State> states(10);
    for (const auto access : {MBIT / 2, 20 * MBIT})
    {
        for (std::size_t member = 0; member < 5; ++member)
        {
            gateway.Report(member, access);
            exact.Report(states[member], access);
        }
    }
    EXPECT_EQ(exact.effective, Rational(385 * MBIT) / Rational(12));
    EXPECT_NEAR(static_cast<double>(gateway.dybra.Effective()), 32.083333e6, 5);
    EXPECT_LE(std::abs(gateway.dybra.Effective() - exact.effective.Floor()), 5) << "a share is rounded down with each return";
    EXPECT_GT(gateway.dybra.Assigned(), 20 * MBIT);
}

/// Shares that are whole numbers anyway: every state equals the exact one, with all equations, also as printed.
TEST(Dybra, IsExactWhereSharesAreWhole)
{
    constexpr Rate FACTORIALS = 2520LL * 2520 * 2520; // any seven divisions by 1 to 10
    for (const auto equations : {Equations::Corrected, Equations::Printed})
    {
        Gateway gateway(FACTORIALS, equations, 10);
        Exact exact(FACTORIALS, 10, equations);
        std::vector<Exact::State> states(10);
        const std::vector<std::pair<std::size_t, Rate>> reports{{0, 20}, {1, 40}, {0, 60}, {2, 24}, {1, 1}, {0, 2}, {2, 1}};
        for (const auto& [member, part] : reports)
        {
            gateway.Report(member, FACTORIALS / part);
            exact.Report(states[member], FACTORIALS / part);
            ASSERT_EQ(gateway.states[member].isBad, states[member].isBad);
            ASSERT_EQ(Rational(gateway.dybra.Effective()), exact.effective);
            ASSERT_EQ(Rational(gateway.dybra.Share()), exact.Share());
        }
    }
}

/// S_eff is exact with any rates; the share is the exact one rounded down. Decisions differ only where a rate lies between the two.
TEST(Dybra, AgreesWithExactFractionsInRandomCases)
{
    std::mt19937_64 random(4);
    int steps = 0;
    for (int number = 0; number < 2000; ++number)
    {
        const auto members = std::uniform_int_distribution<std::size_t>{1, 12}(random);
        const auto rate = std::uniform_int_distribution<Rate>{1000, 1'000'000}(random);
        Gateway gateway(rate, Equations::Corrected, members);
        Exact exact(rate, static_cast<int>(members), Equations::Corrected);
        std::vector<Exact::State> states(members);
        for (int step = 0; step < 50; ++step, ++steps)
        {
            const auto member = std::uniform_int_distribution<std::size_t>{0, members - 1}(random);
            const auto access = std::uniform_int_distribution<Rate>{0, 2 * rate / static_cast<Rate>(members)}(random);
            const auto share = exact.Share();
            const auto returned = (exact.effective + states[member].rate) / Rational(exact.good + 1);
            if (access == share.Floor() || access == returned.Floor())
            {
                continue;
            }
            gateway.Report(member, access);
            exact.Report(states[member], access);
            ASSERT_EQ(gateway.states[member].isBad, states[member].isBad);
            ASSERT_EQ(Rational(gateway.dybra.Effective()), exact.effective);
            ASSERT_EQ(gateway.dybra.Share(), exact.Share().Floor());
        }
    }
    EXPECT_GT(steps, 50'000);
}

TEST(Dybra, KeepsTheSumAtTheRateOfTheLinkWhateverHappens)
{
    std::mt19937_64 random(5);
    for (int number = 0; number < 500; ++number)
    {
        Rate rate = std::uniform_int_distribution<Rate>{0, 100 * MBIT}(random);
        Gateway gateway(rate, Equations::Corrected, 1);
        for (int step = 0; step < 200; ++step)
        {
            const auto member = std::uniform_int_distribution<std::size_t>{0, gateway.states.size() - 1}(random);
            switch (std::uniform_int_distribution{0, 5}(random))
            {
            case 0:
                gateway.dybra.Join();
                gateway.states.emplace_back();
                break;
            case 1:
                if (gateway.states.size() > 1)
                {
                    gateway.dybra.Leave(gateway.states[member]);
                    gateway.states.erase(gateway.states.begin() + static_cast<std::ptrdiff_t>(member));
                }
                break;
            case 2:
                rate = std::uniform_int_distribution<Rate>{0, 100 * MBIT}(random);
                gateway.dybra.SetRate(rate);
                break;
            default:
                gateway.Report(member, std::uniform_int_distribution<Rate>{0, 2 * gateway.dybra.Share() + 10}(random));
            }
            gateway.Settle();
            const auto members = static_cast<Rate>(gateway.states.size());
            ASSERT_EQ(gateway.dybra.Effective() + gateway.OfBad(), rate);
            ASSERT_EQ(gateway.dybra.Members(), gateway.states.size());
            ASSERT_LE(gateway.dybra.Assigned(), rate);
            ASSERT_TRUE(gateway.dybra.Good() == 0 || gateway.dybra.Share() >= rate / members) << "its part of all at least";
            for (const auto& state : gateway.states)
            {
                ASSERT_TRUE(!state.isBad || gateway.dybra.Good() == 0 || state.rate <= gateway.dybra.Share());
            }
        }
    }
}

TEST(Dybra, HasMembersReturnWhichTheShareFellTo)
{
    Gateway gateway(20 * MBIT, Equations::Corrected, 2);
    gateway.Report(0, 9 * MBIT);
    EXPECT_EQ(gateway.dybra.Share(), 11 * MBIT);
    gateway.dybra.Join(18);
    gateway.states.resize(20);
    EXPECT_LT(gateway.dybra.Share(), MBIT) << "the silent bad member has 9 Mbit/s";
    gateway.Settle();
    EXPECT_EQ(gateway.dybra.Share(), MBIT);
    EXPECT_EQ(gateway.dybra.Bad(), 0U);
}

TEST(Dybra, DividesByNothingWhereAllAreBad)
{
    Gateway gateway(10 * MBIT, Equations::Corrected, 2);
    gateway.Report(0, MBIT);
    gateway.Report(1, 2 * MBIT);
    EXPECT_EQ(gateway.dybra.Good(), 0U);
    EXPECT_EQ(gateway.dybra.Share(), 7 * MBIT) << "S_eff as it is";
    EXPECT_EQ(gateway.dybra.Assigned(), 3 * MBIT);
    EXPECT_TRUE(gateway.Report(0, 9 * MBIT)) << "the share that it would have then is 8";
    EXPECT_EQ(gateway.dybra.Share(), 8 * MBIT);
    EXPECT_THROW(Dybra(1, Equations::Corrected).Leave({.isBad = true, .rate = 1}), std::underflow_error);
}

/// Theorem 1 (section 2.3.2, Eq. 2.3 and 2.4): n events follow one another if each member can use exactly what the event before leaves it,
/// c_i = sum_{j=1..i} prod_{k=0..j-1} 1/(n-k) of the link. With a rate of n! all are whole numbers. b_i == c_i is good, so each event makes
/// exactly one other member bad.
TEST(Dybra, HasTheNineTransitionsOfTheoremOne)
{
    constexpr std::size_t MEMBERS = 10;
    constexpr Rate RATE = 3'628'800; // 10!
    std::vector<Rate> access(MEMBERS);
    for (std::size_t member = 0; member < MEMBERS; ++member)
    {
        Rate part = RATE;
        for (std::size_t product = 1; product <= std::max<std::size_t>(member, 1); ++product)
        {
            ASSERT_EQ(part % static_cast<Rate>(MEMBERS + 1 - product), 0);
            part /= static_cast<Rate>(MEMBERS + 1 - product);
            access[member] += part;
        }
    }
    Gateway gateway(RATE, Equations::Corrected, MEMBERS);
    std::vector<DybraClient> clients(MEMBERS, DybraClient(0));
    for (std::size_t member = 0; member < MEMBERS; ++member)
    {
        EXPECT_FALSE(clients[member].Assess(gateway.dybra.Share(), gateway.dybra.Good(), access[member])) << "all are good at first";
    }

    access[0] = 0;
    std::vector<std::size_t> order;
    for (bool isQuiet = false; !isQuiet;)
    {
        std::vector<std::size_t> reporting;
        for (std::size_t member = 0; member < MEMBERS; ++member)
        {
            if (clients[member].Assess(gateway.dybra.Share(), gateway.dybra.Good(), access[member]))
            {
                reporting.push_back(member);
            }
        }
        isQuiet = reporting.empty();
        ASSERT_LE(reporting.size(), 1U);
        for (const auto member : reporting)
        {
            EXPECT_TRUE(gateway.Report(member, access[member]));
            EXPECT_TRUE(gateway.states[member].isBad);
            order.push_back(member);
        }
    }
    EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9})) << "the event, and nine transitions";
    EXPECT_EQ(gateway.dybra.Good(), 0U);
    EXPECT_EQ(gateway.dybra.Effective() + gateway.OfBad(), RATE);
}

TEST(DybraClient, IsGoodWithExactlyItsShare)
{
    DybraClient client(0);
    EXPECT_FALSE(client.Assess(100, 1, 100));
    EXPECT_TRUE(client.Assess(101, 1, 100));
    EXPECT_TRUE(client.State().isBad);
    EXPECT_TRUE(client.Assess(100, 1, 100));
    EXPECT_FALSE(client.State().isBad);
}

TEST(DybraClient, ReturnsAsTheOnlyGoodMemberOnlyWithAllThatItWouldHaveThen)
{
    DybraClient client(0);
    client.Assess(100, 1, 40);
    EXPECT_FALSE(client.Assess(30, 0, 40)) << "it would have 30 and its own 40";
    EXPECT_TRUE(client.Assess(30, 0, 70));
    EXPECT_FALSE(client.State().isBad);
}

TEST(DybraClient, ReportsChangesOfAFifthBothWays)
{
    DybraClient client;
    EXPECT_FALSE(client.Assess(1000, 1, 801)) << "it can use more than 80 %";
    EXPECT_TRUE(client.Assess(1000, 1, 800));
    EXPECT_FALSE(client.Assess(1000, 1, 641));
    EXPECT_TRUE(client.Assess(1000, 1, 640)) << "down by 20 % of what it reported";
    EXPECT_FALSE(client.Assess(1000, 1, 767));
    EXPECT_TRUE(client.Assess(1000, 1, 768)) << "up by 20 %";
    EXPECT_FALSE(client.Assess(769, 1, 768));
    EXPECT_TRUE(client.Assess(768, 1, 768)) << "the share came down to what it can use";
    EXPECT_FALSE(client.State().isBad);
}

TEST(DybraClient, IgnoresTheShareWhileItIsBad)
{
    DybraClient client;
    EXPECT_EQ(client.Budget(1000, 300), 1000) << "good until it is assessed";
    client.Assess(1000, 1, 300);
    EXPECT_EQ(client.Budget(1000, 300), 300);
    EXPECT_EQ(client.Budget(5000, 300), 300);
    EXPECT_EQ(client.Budget(1000, 250), 250) << "not more than its access, as long as that is not reported";
    client.Set({});
    EXPECT_EQ(client.Budget(1000, 300), 1000);
}

TEST(DybraClient, RefusesAThresholdAboveOne)
{
    EXPECT_THROW(DybraClient(1001), std::invalid_argument);
    EXPECT_NO_THROW(DybraClient(1000));
}

TEST(DybraClient, TakesTheLargestRates)
{
    DybraClient client;
    EXPECT_FALSE(client.Assess(MOST_RATE, 1, MOST_RATE));
    EXPECT_TRUE(client.Assess(MOST_RATE, 1, MOST_RATE / 2));
    EXPECT_TRUE(client.Assess(MOST_RATE, 1, MOST_RATE));
}
