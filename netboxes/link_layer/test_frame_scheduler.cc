// SPDX-License-Identifier: GPL-2.0-or-later
// Self-clocked fair queueing of frames: section 6.2.3.
#include "frame_scheduler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <numeric>
#include <optional>
#include <random>
#include <utility>
#include <vector>

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

    /// V(t): the stamp of the latest frame that left.
    double Now() const
    {
        return m_now;
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

/// A scheduler whose stamps a test can check. FrameScheduler does not show its stamps, but of two equal stamps that of the lower
/// service goes first. So a frame has a stamp exactly if it leaves after a lower service's frame with this stamp, and before a
/// higher service's frame with this stamp. The first and the last service send these two frames, the probes.
class StampedScheduler
{
  public:
    /// `rates`: of services 1, 2, …, behind one that is not used.
    explicit StampedScheduler(const std::vector<double>& rates)
    {
        for (std::size_t service = 1; service < rates.size(); ++service)
        {
            m_scheduler.SetShare(static_cast<ServiceId>(service), rates[service]);
        }
        m_scheduler.SetShare(BEFORE, PROBE_RATE);
        m_scheduler.SetShare(BEHIND, PROBE_RATE);
    }

    void Enqueue(const AirFrame& frame)
    {
        m_scheduler.Enqueue(frame);
    }

    bool IsEmpty() const
    {
        return m_scheduler.IsEmpty();
    }

    /// Takes out the next frame: its service and its number, or nothing if its stamp is not `stamp`. If the frame before had the
    /// same stamp, no probe fits between them. The second probe is then as short as possible.
    std::optional<std::pair<ServiceId, std::uint16_t>> Dequeue(double stamp)
    {
        const auto bytes = static_cast<std::uint32_t>((stamp - m_now) * PROBE_RATE);
        m_now = stamp;
        Probe(BEHIND, std::max(bytes, 1U));
        if (bytes > 0)
        {
            Probe(BEFORE, bytes);
            if (m_scheduler.Dequeue().service != BEFORE)
            {
                return std::nullopt;
            }
        }
        const auto frame = m_scheduler.Dequeue();
        std::vector<AirFrame> probes;
        m_scheduler.TakeAll(BEHIND, probes);
        return frame.service == BEHIND ? std::nullopt : std::optional(std::pair(frame.service, frame.sequence));
    }

  private:
    static constexpr ServiceId BEFORE = 0;
    static constexpr ServiceId BEHIND = MOST_SERVICES - 1;
    /// A power of two, so that stamps of probes are exact.
    static constexpr double PROBE_RATE = 2048;

    void Probe(ServiceId service, std::uint32_t bytes)
    {
        auto frame = Frame(service, 0);
        frame.payload = m_pool.Take(1, bytes);
        m_scheduler.Enqueue(std::move(frame));
    }

    PacketPool m_pool{[](std::uint64_t, bool, Drop) {}};
    FrameScheduler m_scheduler;
    double m_now{0};
};

/// Services that always have frames to send, of 1 to `LONGEST` bytes, and what they have sent.
class Backlog
{
  public:
    static constexpr std::uint8_t LONGEST = 60;

    explicit Backlog(const std::vector<double>& shares)
        : sent(shares.size()),
          m_shares(shares),
          m_sum(std::accumulate(shares.begin(), shares.end(), 0.0))
    {
        for (ServiceId service = 0; service < shares.size(); ++service)
        {
            m_scheduler.SetShare(service, shares[service]);
            Enqueue(service);
            Enqueue(service);
        }
    }

    void SendFrame()
    {
        const auto frame = m_scheduler.Dequeue();
        sent[frame.service] += frame.Bytes();
        m_all += frame.Bytes();
        Enqueue(frame.service);
    }

    /// Bytes that a service has sent beyond its share of all.
    double Ahead(std::size_t service) const
    {
        return sent[service] - m_all * m_shares[service] / m_sum;
    }

    std::vector<double> sent; ///< bytes, by service

  private:
    void Enqueue(ServiceId service)
    {
        m_scheduler.Enqueue(Frame(service, static_cast<std::uint8_t>(1 + m_random() % LONGEST)));
    }

    std::vector<double> m_shares;
    double m_sum;
    double m_all{0};
    std::mt19937 m_random{1};
    FrameScheduler m_scheduler;
};

} // namespace

TEST(FrameSchedulerTest, StampsOfAScriptedListAreThoseOfTheFormula)
{
    // A9. Stamps are worked by hand, with rates 1, 2 and 4.
    const std::vector<double> rates{0, 1, 2, 4};
    Formula formula(rates);
    StampedScheduler scheduler(rates);
    std::uint16_t number = 0;
    const auto arrives = [&](ServiceId service, std::uint8_t bytes, double stamp)
    {
        const auto frame = Frame(service, bytes, number++);
        EXPECT_EQ(formula.Enqueue(frame), stamp);
        scheduler.Enqueue(frame);
    };
    const auto leaves = [&](ServiceId service, std::uint16_t which, double stamp)
    {
        const std::pair frame(service, which);
        EXPECT_EQ(formula.Dequeue(), frame);
        EXPECT_EQ(scheduler.Dequeue(stamp), frame) << stamp;
    };
    arrives(1, 8, 8);
    arrives(2, 8, 4);
    arrives(2, 10, 9);
    leaves(2, 1, 4);    // V = 4
    arrives(3, 4, 5);   // an empty line: from V
    arrives(3, 20, 10); // a backlogged one: from its last stamp
    leaves(3, 3, 5);
    leaves(1, 0, 8);
    arrives(1, 2, 10); // as early as the last frame of service 3, and of a lower service
    leaves(2, 2, 9);
    leaves(1, 5, 10);
    leaves(3, 4, 10);
    // All lines are empty: V may begin at 0 again, and only differences from V are checked.
    arrives(2, 6, 13);
    leaves(2, 6, 13);
    EXPECT_TRUE(scheduler.IsEmpty());
}

TEST(FrameSchedulerTest, AnyFramesHaveStampsAndOrderOfTheFormula)
{
    // Powers of two: stamps are exact in both, so equal ones are equal.
    const std::vector<double> rates{0, 0.25, 0.5, 1, 2, 8};
    for (unsigned seed = 1; seed <= 50; ++seed)
    {
        std::mt19937 random(seed);
        StampedScheduler scheduler(rates);
        Formula formula(rates);
        std::uint16_t number = 0;
        for (int step = 0; step < 2000; ++step)
        {
            if (formula.IsEmpty() || random() % 2 == 0)
            {
                const auto frame = Frame(static_cast<ServiceId>(1 + random() % (rates.size() - 1)),
                                         static_cast<std::uint8_t>(1 + random() % 200),
                                         number++);
                scheduler.Enqueue(frame);
                formula.Enqueue(frame);
            }
            else
            {
                const auto next = formula.Dequeue();
                ASSERT_EQ(scheduler.Dequeue(formula.Now()), next) << "seed " << seed << ", stamp " << formula.Now();
            }
            ASSERT_EQ(scheduler.IsEmpty(), formula.IsEmpty()); // never idle with a backlog
        }
    }
}

TEST(FrameSchedulerTest, TwoBackloggedServicesAreWithinAFrameOfTheirSharesAtEachStep)
{
    // A9, with T7.1's shares, which need not sum up to 1. Golestani's bound is |sent_1/r_1 - sent_2/r_2| <= L/r_1 + L/r_2, with
    // L = the longest frame. Multiplied by r_1·r_2/(r_1 + r_2) it says that each service is within L of its share.
    for (const auto& shares : {std::vector{0.33, 0.66}, std::vector{0.5, 0.5}})
    {
        Backlog backlog(shares);
        for (int frame = 0; frame < 20'000; ++frame)
        {
            backlog.SendFrame();
            for (const std::size_t service : {0, 1})
            {
                ASSERT_LE(std::abs(backlog.Ahead(service)), Backlog::LONGEST) << frame << ' ' << service;
            }
        }
    }
}

TEST(FrameSchedulerTest, MoreThanTwoBackloggedServicesAreWithinGolestanisBound)
{
    // Golestani's bound holds for each pair of services, and a service can be ahead of all others at the same time. The sum of
    // r_i·r_j/R·(L/r_i + L/r_j) over the n - 1 other services, with R = the sum of all r, is L·(1 + (n - 2)·r_i/R): this is how
    // far service i can be from its share. One frame is the bound of SCFQ for two services only; with three or more it is not.
    for (const auto& shares : {std::vector{0.33, 0.66, 0.11}, std::vector{0.5, 0.1, 0.1, 0.1, 0.1, 0.05, 0.05}})
    {
        const auto sum = std::accumulate(shares.begin(), shares.end(), 0.0);
        const auto others = static_cast<double>(shares.size()) - 2;
        Backlog backlog(shares);
        for (int frame = 0; frame < 20'000; ++frame)
        {
            backlog.SendFrame();
            for (std::size_t one = 0; one < shares.size(); ++one)
            {
                ASSERT_LE(std::abs(backlog.Ahead(one)), Backlog::LONGEST * (1 + others * shares[one] / sum))
                    << frame << ' ' << one;
                for (std::size_t other = 0; other < one; ++other)
                {
                    ASSERT_LE(std::abs(backlog.sent[one] / shares[one] - backlog.sent[other] / shares[other]),
                              Backlog::LONGEST / shares[one] + Backlog::LONGEST / shares[other]);
                }
            }
        }
    }
}

TEST(FrameSchedulerTest, OfManyServicesOneIsAheadByMoreThanAFrame)
{
    // The first service has half of the link, and eight others share the rest. The first frame of each of these has the stamp of
    // the first service's eighth frame.
    FrameScheduler scheduler;
    for (ServiceId service = 0; service <= 8; ++service)
    {
        scheduler.SetShare(service, service == 0 ? 0.5 : 0.0625);
        for (int frame = 0; frame < 10; ++frame)
        {
            scheduler.Enqueue(Frame(service, 50));
        }
    }
    for (int frame = 0; frame < 8; ++frame)
    {
        EXPECT_EQ(scheduler.Dequeue().service, 0) << frame;
    }
    // It has sent eight frames of eight, and its share is four: ahead by four frames. The bound of n = 9 is 4.5 frames.
    EXPECT_EQ(scheduler.Dequeue().service, 1);
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

TEST(FrameSchedulerTest, UrgentFramesGoBeforeOthersOfTheirServiceAndTakeNothingFromOtherServices)
{
    // Two services with the same share, each of frames of 100 bytes: they take turns, whichever frames of one are urgent.
    FrameScheduler scheduler;
    scheduler.SetShare(0, 1);
    scheduler.SetShare(1, 1);
    for (std::uint16_t number = 0; number < 4; ++number)
    {
        scheduler.Enqueue(Frame(0, 100, number));
        scheduler.Enqueue(Frame(1, 100, number));
    }
    for (std::uint16_t number = 10; number < 12; ++number)
    {
        auto frame = Frame(1, 100, number);
        frame.isUrgent = true;
        scheduler.Enqueue(std::move(frame));
    }
    EXPECT_EQ(scheduler.Frames(1), 6U);
    EXPECT_EQ(scheduler.Bytes(), 1000U);
    std::array<std::vector<std::uint16_t>, 2> gone;
    while (!scheduler.IsEmpty())
    {
        const auto frame = scheduler.Dequeue();
        gone[frame.service].push_back(frame.sequence);
        const bool bothWait = scheduler.Frames(0) > 0 && scheduler.Frames(1) > 0;
        EXPECT_TRUE(!bothWait || std::abs(std::ssize(gone[0]) - std::ssize(gone[1])) <= 1);
    }
    EXPECT_EQ(gone[0], (std::vector<std::uint16_t>{0, 1, 2, 3}));
    EXPECT_EQ(gone[1], (std::vector<std::uint16_t>{10, 11, 0, 1, 2, 3}));
}

TEST(FrameSchedulerTest, AnUrgentFrameHasTheStampOfItsOwnLength)
{
    // The first frame of service 1 would end at 200; an urgent one of 50 in its place ends at 50, before that of service 0 at 100.
    FrameScheduler scheduler;
    scheduler.SetShare(0, 1);
    scheduler.SetShare(1, 1);
    scheduler.Enqueue(Frame(0, 100, 0));
    scheduler.Enqueue(Frame(1, 200, 1));
    auto urgent = Frame(1, 50, 2);
    urgent.isUrgent = true;
    scheduler.Enqueue(std::move(urgent));
    std::vector<std::uint16_t> gone;
    while (!scheduler.IsEmpty())
    {
        gone.push_back(scheduler.Dequeue().sequence);
    }
    EXPECT_EQ(gone, (std::vector<std::uint16_t>{2, 0, 1}));
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
