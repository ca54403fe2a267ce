// SPDX-License-Identifier: GPL-2.0-or-later
#include "drr.h"
#include "qfq.h"
#include "scfq.h"
#include "test_random.h"
#include "w2f2q.h"
#include "wf2q_plus.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <numeric>

using namespace netboxit::queueing;

namespace
{

using Make = std::function<std::unique_ptr<WeightedScheduler>(const Weights&)>;

struct Kind
{
    const char* name;
    Make make;
    /// The most that a line may be behind its share, in packets of the greatest length (B-WFI), by its weight and those of all.
    std::function<double(double weight, double sum, double least, double lines)> worst;
};

// Bounds on the worst-case fair index, in longest packets: of WF2Q+ 1, of QFQ 5, of QFQ+ a constant number more by the size of aggregates
// (Grazia, "Communication Networks for Public Protection and Disaster Relief Systems", 4.3.3); of DRR a round of all quanta; of SCFQ a
// packet of each other line (Golestani, 1994).
const std::vector<Kind> KINDS{
    {"drr",
     [](const Weights& weights) { return std::make_unique<Drr>(weights, LONGEST); },
     [](double weight, double sum, double least, double lines)
     { return weight / sum * (sum / least + lines) + 2 + weight / least; }},
    {"scfq",
     [](const Weights& weights) { return std::make_unique<Scfq>(weights); },
     [](double weight, double sum, double, double lines) { return 1 + weight / sum * (lines - 1) + 1; }},
    {"wf2q+",
     [](const Weights& weights) { return std::make_unique<Wf2qPlus>(weights); },
     [](double, double, double, double) { return 1.0 + 1e-6; }},
    {"w2f2q",
     [](const Weights& weights) { return std::make_unique<W2f2q>(weights, [](LineId) { return 0.0; }, 0.2); },
     [](double, double, double, double) { return 1.0 + 1e-6; }},
    {"qfq",
     [](const Weights& weights) { return std::make_unique<Qfq>(weights, LONGEST, 1); },
     [](double, double, double, double) { return 5.0; }},
    {"qfq+",
     [](const Weights& weights) { return std::make_unique<Qfq>(weights, LONGEST, 8); },
     [](double, double, double, double) { return 5.0 + 3 * 8; }},
};

/// Lines of packets under a scheduler, each packet with its number.
class Lines
{
  public:
    Lines(std::unique_ptr<WeightedScheduler> scheduler, std::size_t count) : m_scheduler(std::move(scheduler)), m_lines(count)
    {
    }

    void Put(LineId line, std::uint32_t bytes)
    {
        m_lines[line].push_back(bytes);
        if (m_lines[line].size() == 1)
        {
            m_scheduler->Begin(line, bytes);
        }
    }

    /// The line, and the bytes that it sent.
    std::pair<LineId, std::uint32_t> Send()
    {
        const auto line = m_scheduler->Next();
        EXPECT_EQ(m_scheduler->Next(), line);
        EXPECT_FALSE(m_lines.at(line).empty());
        const auto bytes = m_lines[line].front();
        m_lines[line].pop_front();
        m_scheduler->Sent(line, bytes, First(line));
        return {line, bytes};
    }

    void TakeOut(LineId line)
    {
        m_lines[line].pop_front();
        m_scheduler->TakenOut(line, First(line));
    }

    void Weigh(LineId line, std::uint32_t weight)
    {
        m_scheduler->Weigh(line, weight);
    }

    std::size_t Waits(LineId line) const
    {
        return m_lines[line].size();
    }

  private:
    std::uint32_t First(LineId line) const
    {
        return m_lines[line].empty() ? 0 : m_lines[line].front();
    }

    std::unique_ptr<WeightedScheduler> m_scheduler;
    std::vector<std::deque<std::uint32_t>> m_lines;
};

class SchedulerTest : public testing::TestWithParam<Kind>
{
};

} // namespace

TEST_P(SchedulerTest, LinesThatAlwaysHaveSomethingSendByTheirWeights)
{
    const Weights weights{1, 2, 3, 10, 10, 1, 50, 7};
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    Lines lines(GetParam().make(weights), weights.size());
    Random chance(1);
    const auto fill = [&](LineId line)
    {
        while (lines.Waits(line) < 3)
        {
            lines.Put(line, chance.Length());
        }
    };
    for (LineId line = 0; line < weights.size(); ++line)
    {
        fill(line);
    }
    std::vector<double> sent(weights.size(), 0);
    // How far each is behind its share, and the least so far: when a packet of its own has gone, their difference is what it lacks of its
    // share in the worst interval until then (B-WFI: Bennett and Zhang, 1997).
    std::vector<double> ahead(weights.size(), 0);
    std::vector<double> worst(weights.size(), 0);
    double total = 0;
    for (int turn = 0; turn < 200'000; ++turn)
    {
        const auto [line, bytes] = lines.Send();
        sent[line] += bytes;
        total += bytes;
        fill(line);
        worst[line] = std::max(worst[line], weights[line] / sum * total - sent[line] - ahead[line]);
        for (LineId each = 0; each < weights.size(); ++each)
        {
            ahead[each] = std::min(ahead[each], weights[each] / sum * total - sent[each]);
        }
    }
    for (LineId line = 0; line < weights.size(); ++line)
    {
        EXPECT_NEAR(sent[line] / total, weights[line] / sum, 0.001) << line;
        EXPECT_LE(worst[line] / LONGEST, GetParam().worst(weights[line], sum, 1, static_cast<double>(weights.size()))) << line;
    }
}

TEST_P(SchedulerTest, WhateverComesAndIsTakenOutGoesOnceInItsLinesOrderAndNobodyStarves)
{
    Random chance(2);
    for (int trial = 0; trial < 30; ++trial)
    {
        Weights weights(1 + static_cast<std::size_t>(chance() * 60));
        for (auto& weight : weights)
        {
            weight = 1 + static_cast<std::uint32_t>(std::pow(chance(), 4) * 1000);
        }
        Lines lines(GetParam().make(weights), weights.size());
        std::size_t waiting = 0;
        const auto any = [&] { return static_cast<LineId>(chance() * static_cast<double>(weights.size())); };
        for (int turn = 0; turn < 5'000; ++turn)
        {
            const double what = chance();
            if (const auto line = any(); what < 0.45)
            {
                lines.Put(line, chance.Length());
                ++waiting;
            }
            else if (what < 0.46)
            {
                lines.Weigh(line, 1 + static_cast<std::uint32_t>(std::pow(chance(), 4) * 1000));
            }
            else if (what < 0.5)
            {
                if (lines.Waits(line) > 0)
                {
                    lines.TakeOut(line);
                    --waiting;
                }
            }
            else if (waiting > 0)
            {
                lines.Send();
                --waiting;
            }
        }
        for (; waiting > 0; --waiting)
        {
            lines.Send();
        }
        for (LineId line = 0; line < weights.size(); ++line)
        {
            ASSERT_EQ(lines.Waits(line), 0u);
        }
    }
}

TEST_P(SchedulerTest, AFlowThatBeginsWaitsForNoOldDebtsOfOthers)
{
    // Alone for a long time, the first line has no more than its share when the second one begins.
    Lines lines(GetParam().make({1, 1}), 2);
    for (int turn = 0; turn < 10'000; ++turn)
    {
        lines.Put(0, LONGEST);
        lines.Send();
    }
    int first = 0;
    for (int turn = 0; turn < 100; ++turn)
    {
        lines.Put(0, LONGEST);
        lines.Put(1, LONGEST);
    }
    for (int turn = 0; turn < 100; ++turn)
    {
        first += lines.Send().first == 0 ? 1 : 0;
    }
    EXPECT_NEAR(first, 50, 9);
}

TEST_P(SchedulerTest, LinesSendByTheirNewWeightsFromNowOn)
{
    const Weights before{1, 2, 3, 10, 10, 1, 50, 7};
    const Weights after{50, 2, 2, 1, 10, 5, 1, 2};
    const double sum = std::accumulate(after.begin(), after.end(), 0.0);
    Lines lines(GetParam().make(before), before.size());
    Random chance(4);
    std::vector<double> sent(before.size(), 0);
    double total = 0;
    const auto turn = [&]
    {
        for (LineId line = 0; line < before.size(); ++line)
        {
            while (lines.Waits(line) < 3)
            {
                lines.Put(line, chance.Length());
            }
        }
        return lines.Send();
    };
    for (int packet = 0; packet < 5'000; ++packet)
    {
        turn();
    }
    for (LineId line = 0; line < before.size(); ++line)
    {
        lines.Weigh(line, after[line]);
    }
    constexpr int PACKETS = 20'000;
    for (int packet = 0; packet < PACKETS; ++packet)
    {
        const auto [line, bytes] = turn();
        sent[line] += bytes;
        total += bytes;
    }
    for (LineId line = 0; line < before.size(); ++line)
    {
        // Within what the bounds above allow, twice: with the old weights and with the new ones.
        const double packets = 2 * GetParam().worst(after[line], sum, 1, static_cast<double>(before.size())) + 1;
        EXPECT_NEAR(sent[line] / total, after[line] / sum, packets * LONGEST / total) << line;
    }
}

/// A line whose weight, small, changes after each packet of others waits no longer than if it were the smallest all the time.
TEST_P(SchedulerTest, ALineWhoseWeightChangesAllTheTimeDoesNotStarve)
{
    constexpr std::size_t LINES = 10;
    Lines lines(GetParam().make(Weights(LINES, 100)), LINES);
    Random chance(5);
    int first = 0;
    constexpr int PACKETS = 50'000;
    for (int packet = 0; packet < PACKETS; ++packet)
    {
        for (LineId line = 0; line < LINES; ++line)
        {
            while (lines.Waits(line) < 3)
            {
                lines.Put(line, LONGEST);
            }
        }
        lines.Weigh(0, 5 + static_cast<std::uint32_t>(10 * chance()));
        first += lines.Send().first == 0 ? 1 : 0;
    }
    EXPECT_GE(first, PACKETS * 5 / 905 / 2);
    EXPECT_LE(first, PACKETS * 15 / 915 * 2);
}

namespace
{

/// How many of so many packets each line sends while all always have something.
std::vector<int> SentOf(Lines& lines, std::size_t count, int packets)
{
    std::vector<int> sent(count, 0);
    for (int packet = 0; packet < packets; ++packet)
    {
        for (LineId line = 0; line < count; ++line)
        {
            while (lines.Waits(line) < 2)
            {
                lines.Put(line, LONGEST);
            }
        }
        ++sent[lines.Send().first];
    }
    return sent;
}

} // namespace

TEST(W2f2q, GivesNothingToBadChannelsWhileOthersHaveSomething)
{
    const std::vector<double> losses{0.2, 0.21, 0.0, 1.0};
    Lines lines(std::make_unique<W2f2q>(Weights{3, 100, 1, 7}, [&losses](LineId line) { return losses[line]; }, 0.2), 4);
    EXPECT_EQ(SentOf(lines, 4, 400), (std::vector{300, 0, 100, 0}));
    // What is left of the good ones goes first.
    while (lines.Waits(0) + lines.Waits(2) > 0)
    {
        EXPECT_EQ(lines.Send().first % 2, 0u);
    }
    // Then the bad ones send, by their weights.
    for (int packet = 0; packet < 200; ++packet)
    {
        lines.Put(1, LONGEST);
        lines.Put(3, LONGEST);
    }
    std::vector<int> sent(4, 0);
    for (int packet = 0; packet < 107; ++packet)
    {
        ++sent[lines.Send().first];
    }
    EXPECT_NEAR(sent[1], 100, 1);
    EXPECT_NEAR(sent[3], 7, 1);
}

TEST(W2f2q, FollowsChannelsThatChange)
{
    std::vector<double> losses{0.0, 0.0};
    Lines lines(std::make_unique<W2f2q>(Weights{1, 1}, [&losses](LineId line) { return losses[line]; }, 0.2), 2);
    EXPECT_EQ(SentOf(lines, 2, 100), (std::vector{50, 50}));
    losses[0] = 1;
    // The packet that was chosen before goes still.
    EXPECT_LE(SentOf(lines, 2, 100)[0], 1);
    losses = {0, 1};
    EXPECT_LE(SentOf(lines, 2, 100)[1], 1);
    losses = {0, 0};
    // No line has a debt of the time in which its channel was bad.
    EXPECT_NEAR(SentOf(lines, 2, 100)[0], 50, 2);
}

INSTANTIATE_TEST_SUITE_P(Kinds,
                         SchedulerTest,
                         testing::ValuesIn(KINDS),
                         [](const auto& kind)
                         {
                             std::string name = kind.param.name;
                             std::ranges::replace(name, '+', 'p');
                             return name;
                         });
