// SPDX-License-Identifier: GPL-2.0-or-later
// Self-clocked fair queueing of frames: section 6.2.3.
#include "frame_scheduler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <optional>
#include <random>

using namespace netboxit::multiservice;

namespace
{

/// A frame of so many bytes in all.
AirFrame Frame(ServiceId service, std::uint8_t bytes, std::uint16_t number = 0)
{
    return {.service = service, .sequence = number, .headerBytes = bytes};
}

/// The source's formula, V_i(k) = L(k)/r_i + max(V_i(k-1), V(t)), word for word: stamps at arrival, in the order of stamps, of
/// equal ones the lower service first.
class Formula
{
  public:
    explicit Formula(std::vector<double> rates) : m_rates(std::move(rates)), m_last(m_rates.size()), m_lines(m_rates.size())
    {
    }

    double Enqueue(const AirFrame& frame)
    {
        auto& last = m_last[frame.service];
        last = frame.Bytes() / m_rates[frame.service] + std::max(last, m_now);
        m_lines[frame.service].push_back({last, frame.sequence});
        return last;
    }

    std::pair<ServiceId, std::uint16_t> Dequeue()
    {
        std::optional<std::size_t> first;
        for (std::size_t service = 0; service < m_lines.size(); ++service)
        {
            if (!m_lines[service].empty() && (!first || m_lines[service].front().first < m_lines[*first].front().first))
            {
                first = service;
            }
        }
        const auto [stamp, number] = m_lines[*first].front();
        m_lines[*first].pop_front();
        m_now = stamp;
        return {static_cast<ServiceId>(*first), number};
    }

    bool IsEmpty() const
    {
        return std::ranges::all_of(m_lines, [](const auto& line) { return line.empty(); });
    }

  private:
    std::vector<double> m_rates;
    std::vector<double> m_last;
    std::vector<std::deque<std::pair<double, std::uint16_t>>> m_lines;
    double m_now{0};
};

} // namespace

TEST(FrameSchedulerTest, StampsOfAScriptedListAreThoseOfTheFormula)
{
    // Worked by hand with rates 1, 2 and 4: stamps, in the order in which the frames come.
    Formula formula({1, 2, 4});
    EXPECT_EQ(formula.Enqueue(Frame(0, 8)), 8);
    EXPECT_EQ(formula.Enqueue(Frame(1, 8)), 4);
    EXPECT_EQ(formula.Enqueue(Frame(1, 10)), 9);
    EXPECT_EQ(formula.Dequeue().first, 1);        // V = 4
    EXPECT_EQ(formula.Enqueue(Frame(2, 4)), 5);   // an empty line: from V
    EXPECT_EQ(formula.Enqueue(Frame(2, 20)), 10); // a backlogged one: from its last stamp

    FrameScheduler scheduler;
    scheduler.SetShare(0, 1);
    scheduler.SetShare(1, 2);
    scheduler.SetShare(2, 4);
    scheduler.Enqueue(Frame(0, 8));
    scheduler.Enqueue(Frame(1, 8));
    scheduler.Enqueue(Frame(1, 10));
    EXPECT_EQ(scheduler.Dequeue().service, 1); // 4
    scheduler.Enqueue(Frame(2, 4));
    scheduler.Enqueue(Frame(2, 20));
    std::vector<int> order;
    while (!scheduler.IsEmpty())
    {
        order.push_back(scheduler.Dequeue().service);
    }
    EXPECT_EQ(order, (std::vector<int>{2, 0, 1, 2})); // 5, 8, 9, 10
}

TEST(FrameSchedulerTest, AnyFramesLeaveInTheOrderOfTheFormula)
{
    // Powers of two: stamps are exact in both, so equal ones are equal.
    const std::vector<double> rates{0.25, 0.5, 1, 2, 8};
    for (unsigned seed = 1; seed <= 50; ++seed)
    {
        std::mt19937 random(seed);
        FrameScheduler scheduler;
        for (std::size_t service = 0; service < rates.size(); ++service)
        {
            scheduler.SetShare(static_cast<ServiceId>(service), rates[service]);
        }
        Formula formula(rates);
        std::uint16_t number = 0;
        for (int step = 0; step < 2000; ++step)
        {
            if (formula.IsEmpty() || random() % 2 == 0)
            {
                const auto frame = Frame(static_cast<ServiceId>(random() % rates.size()),
                                         static_cast<std::uint8_t>(1 + random() % 200),
                                         number++);
                scheduler.Enqueue(frame);
                formula.Enqueue(frame);
            }
            else
            {
                const auto sent = scheduler.Dequeue();
                ASSERT_EQ((std::pair(sent.service, sent.sequence)), formula.Dequeue());
            }
            ASSERT_EQ(scheduler.IsEmpty(), formula.IsEmpty()); // never idle with a backlog
        }
    }
}

TEST(FrameSchedulerTest, BackloggedServicesGetTheirSharesWithinAFrame)
{
    // Cellular's shares of T7.1, which need not sum up to 1, and a third service.
    const std::vector<double> shares{0.33, 0.66, 0.11};
    constexpr double LONGEST = 60;
    FrameScheduler scheduler;
    std::mt19937 random(1);
    std::vector<double> sent(shares.size());
    const auto enqueue = [&](ServiceId service)
    { scheduler.Enqueue(Frame(service, static_cast<std::uint8_t>(1 + random() % 60))); };
    for (ServiceId service = 0; service < shares.size(); ++service)
    {
        scheduler.SetShare(service, shares[service]);
        enqueue(service);
        enqueue(service);
    }
    double all = 0;
    for (int frame = 0; frame < 20'000; ++frame)
    {
        const auto next = scheduler.Dequeue();
        sent[next.service] += next.Bytes();
        all += next.Bytes();
        enqueue(next.service);
        // Golestani's bound: two services differ, by their shares, by less than a longest frame of each.
        for (std::size_t one = 0; one < shares.size(); ++one)
        {
            for (std::size_t other = 0; other < one; ++other)
            {
                ASSERT_LE(std::abs(sent[one] / shares[one] - sent[other] / shares[other]),
                          LONGEST / shares[one] + LONGEST / shares[other]);
            }
        }
    }
    for (std::size_t service = 0; service < shares.size(); ++service)
    {
        EXPECT_NEAR(sent[service], all * shares[service] / 1.1, LONGEST);
    }
}

TEST(FrameSchedulerTest, AnUnusedShareIsSplitInProportion)
{
    FrameScheduler scheduler;
    scheduler.SetShare(0, 0.5);
    scheduler.SetShare(1, 0.1);
    scheduler.SetShare(2, 0.4); // has nothing
    std::array<double, 2> sent{};
    for (int frame = 0; frame < 1000; ++frame)
    {
        scheduler.Enqueue(Frame(0, 50));
        scheduler.Enqueue(Frame(1, 50));
    }
    for (int frame = 0; frame < 600; ++frame)
    {
        const auto next = scheduler.Dequeue();
        sent[next.service] += next.Bytes();
    }
    EXPECT_NEAR(sent[0] / sent[1], 5, 0.06);
}

TEST(FrameSchedulerTest, ASharesChangeHoldsForFramesThatWait)
{
    FrameScheduler scheduler;
    scheduler.SetShare(0, 1);
    scheduler.SetShare(1, 1);
    std::array<int, 2> sent{};
    const auto run = [&]
    {
        sent = {};
        for (int frame = 0; frame < 400; ++frame)
        {
            const auto next = scheduler.Dequeue();
            ++sent[next.service];
            scheduler.Enqueue(Frame(next.service, 50));
        }
    };
    scheduler.Enqueue(Frame(0, 50));
    scheduler.Enqueue(Frame(1, 50));
    run();
    EXPECT_NEAR(sent[0], 200, 1);
    scheduler.SetShare(1, 3);
    run();
    EXPECT_NEAR(sent[0], 100, 2);
}

TEST(FrameSchedulerTest, AServicesFramesCanBeTakenOut)
{
    FrameScheduler scheduler;
    for (std::uint16_t number = 0; number < 40; ++number)
    {
        scheduler.Enqueue(Frame(number % 2, 50, number));
    }
    std::vector<AirFrame> taken;
    scheduler.TakeAll(1, taken);
    ASSERT_EQ(taken.size(), 20U);
    for (std::size_t place = 0; place < taken.size(); ++place)
    {
        EXPECT_EQ(taken[place].sequence, 2 * place + 1);
    }
    EXPECT_EQ(scheduler.Bytes(), 20U * 50);
    for (std::uint16_t number = 0; number < 20; ++number)
    {
        EXPECT_EQ(scheduler.Dequeue().sequence, 2 * number);
    }
    EXPECT_TRUE(scheduler.IsEmpty());
    scheduler.Enqueue(Frame(1, 50, 99));
    EXPECT_EQ(scheduler.Dequeue().sequence, 99);
}
