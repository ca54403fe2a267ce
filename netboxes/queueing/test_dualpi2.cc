// SPDX-License-Identifier: GPL-2.0-or-later
#include "make_discipline.h"

#include "ns3/random-variable-stream.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <random>

using namespace netboxit;
using namespace netboxit::queueing;

namespace
{

constexpr std::int64_t MS = 1'000'000;
constexpr double RATE = 12e6; // a packet of 1500 bytes takes 1 ms

const Json SAID{{"discipline", "dualpi2"}, {"target", 0.015}, {"interval", 0.015}, {"rtt", 0.1},
                {"coupling", 2},           {"step", 0.001},   {"protection", 0.1}, {"shift", 0}};

struct Fate
{
    char what; ///< 's'ent, 'm'arked and sent, 'd'ropped
    std::uint32_t packet;

    bool operator==(const Fate&) const = default;
};

void PrintTo(const Fate& fate, std::ostream* out)
{
    *out << fate.what << fate.packet;
}

/// The pseudocode of RFC 9332, appendix A (figures 2 to 8), line by line and with its names, with a time-shifted FIFO or the weighted
/// round robin that it leaves to the implementer as scheduler. It has a timer; times of events are in ns, all others in seconds.
class Rfc9332
{
  public:
    struct Pkt
    {
        std::uint32_t number;
        int ecn;
        double bytes;
        std::int64_t time;
    };

    struct Subqueue
    {
        std::deque<Pkt> packets;
        double count = 0;

        double byt() const
        {
            double sum = 0;
            for (const auto& pkt : packets)
            {
                sum += pkt.bytes;
            }
            return sum;
        }

        double time(std::int64_t now) const
        {
            return packets.empty() ? 0 : static_cast<double>(now - packets.front().time) / 1e9;
        }
    };

    Rfc9332(double limit_, double tshift_) : limit(limit_), tshift(tshift_)
    {
    }

    void enqueue(Pkt pkt, std::int64_t now)
    {
        timer(now);
        if (lq.byt() + cq.byt() + pkt.bytes > limit)
        {
            fates.push_back({'d', pkt.number});
            return;
        }
        pkt.time = now;
        (pkt.ecn % 2 == 1 ? lq : cq).packets.push_back(pkt);
    }

    bool dequeue(std::int64_t now)
    {
        timer(now);
        while (lq.byt() + cq.byt() > 0)
        {
            if (scheduler(now))
            {
                const double qdelay = lq.time(now);
                const auto length = lq.packets.size();
                const auto pkt = take(lq);
                const double pNativeL = length > 1 && qdelay >= step ? 1 : 0;
                const double pL = std::max(pNativeL, pCL);
                if (pCL < 1)
                {
                    fates.push_back({recur(lq, pL) ? 'm' : 's', pkt.number});
                    return true;
                }
                if (recur(lq, pC))
                {
                    fates.push_back({'d', pkt.number});
                    continue;
                }
                fates.push_back({recur(lq, pCL) ? 'm' : 's', pkt.number});
                return true;
            }
            const auto pkt = take(cq);
            if (recur(cq, pC))
            {
                if (pkt.ecn == 0 || pC >= pCmax)
                {
                    fates.push_back({'d', pkt.number});
                    continue;
                }
                fates.push_back({'m', pkt.number});
                return true;
            }
            fates.push_back({'s', pkt.number});
            return true;
        }
        return false;
    }

    std::vector<Fate> fates;
    double p = 0;

  private:
    static bool recur(Subqueue& q, double likelihood)
    {
        q.count += likelihood;
        if (q.count > 1)
        {
            q.count -= 1;
            return true;
        }
        return false;
    }

    static Pkt take(Subqueue& q)
    {
        const auto pkt = q.packets.front();
        q.packets.pop_front();
        return pkt;
    }

    bool scheduler(std::int64_t now)
    {
        if (lq.packets.empty() || cq.packets.empty())
        {
            return cq.packets.empty();
        }
        if (tshift > 0)
        {
            return lq.time(now) + tshift >= cq.time(now);
        }
        // Nine bytes of L to one of C, as Linux.
        if (deficit > 0)
        {
            deficit -= 0.9 * cq.packets.front().bytes;
            return false;
        }
        deficit += 0.1 * lq.packets.front().bytes;
        return true;
    }

    void timer(std::int64_t now)
    {
        for (; next <= now; next += std::llround(Tupdate * 1e9))
        {
            const double curq = std::max(cq.time(next), lq.time(next));
            p = p + alpha * (curq - target) + beta * (curq - prevq);
            p = std::min(std::max(p, 0.0), 1.0);
            pCL = k * p;
            pC = p * p;
            prevq = curq;
        }
    }

    const double limit;
    const double tshift;
    const double k = 2;
    const double target = 0.015;
    const double RTT_max = 0.1;
    const double pCmax = std::min(1 / (k * k), 1.0);
    const double Tupdate = std::min(target, RTT_max / 3);
    const double alpha = 0.1 * Tupdate / (RTT_max * RTT_max);
    const double beta = 0.3 / RTT_max;
    const double step = 0.001;
    Subqueue lq;
    Subqueue cq;
    std::int64_t next = std::llround(Tupdate * 1e9);
    double pCL = 0;
    double pC = 0;
    double prevq = 0;
    double deficit = 0;
};

class DualPi2Test : public testing::Test
{
  protected:
    void Make(Json said)
    {
        discipline = MakeDiscipline(
            said,
            {},
            [this](const Waiting& frame, Loss reason)
            {
                fates.push_back({'d', frame.item});
                ++reasons[reason];
            },
            [this](const Waiting& frame, Mark reason)
            {
                const bool isCapable = frame.ecn != Ecn::NotEct;
                markedNow = isCapable;
                marks[static_cast<std::size_t>(reason)] += isCapable;
                return isCapable;
            });
        // The controller's time begins with the first call.
        discipline->Dequeue(0);
    }

    void Put(std::uint32_t number, Ecn ecn, std::uint32_t bytes, std::int64_t now)
    {
        discipline->Enqueue({number, bytes, now, 0, 0, ecn}, now, RATE);
    }

    std::optional<Waiting> Take(std::int64_t now)
    {
        markedNow = false;
        const auto frame = discipline->Dequeue(now);
        if (frame)
        {
            fates.push_back({markedNow ? 'm' : 's', frame->item});
        }
        return frame;
    }

    std::unique_ptr<Discipline> discipline;
    std::vector<Fate> fates;
    std::map<Loss, std::size_t> reasons;
    std::array<std::size_t, MARK_NAMES.size()> marks{};
    bool markedNow{false};
};

} // namespace

class DualPi2AgainstItsPseudocode : public DualPi2Test, public testing::WithParamInterface<std::tuple<double, double, unsigned>>
{
};

// From an idle link to an overload by half of it, packets of all codepoints and lengths: each has the same fate, in the same order.
TEST_P(DualPi2AgainstItsPseudocode, EachPacketHasTheSameFate)
{
    const auto& [load, shift, seed] = GetParam();
    auto said = SAID;
    said["shift"] = shift;
    said["bytes"] = 150'000;
    Make(said);
    Rfc9332 pseudocode(150'000, shift);
    std::mt19937 random(seed);
    std::exponential_distribution<double> gap(load * RATE / 8 / 800);
    std::discrete_distribution<int> ecn{4.0, 3.0, 2.0, 1.0};
    std::int64_t arrival = 0;
    std::int64_t free = 0;
    for (std::uint32_t number = 0; number < 20'000; ++number)
    {
        // Whole microseconds, odd ones: no packet comes at the time of an update.
        arrival += 2000 * std::llround(gap(random) * 1e6 / 2) + (number == 0 ? 1000 : 0);
        while (free < arrival && discipline->Packets() > 0)
        {
            const auto frame = Take(free);
            EXPECT_EQ(pseudocode.dequeue(free), frame.has_value());
            free += frame ? 2000 * std::llround(frame->bytes * 8 / RATE * 1e6 / 2) : 0;
        }
        free = std::max(free, arrival);
        const auto bytes = 100 + static_cast<std::uint32_t>(random() % 1401);
        const auto codepoint = ecn(random);
        Put(number, static_cast<Ecn>(codepoint), bytes, arrival);
        pseudocode.enqueue({number, codepoint, static_cast<double>(bytes), 0}, arrival);
        ASSERT_EQ(fates.size(), pseudocode.fates.size());
        ASSERT_TRUE(fates.empty() || fates.back() == pseudocode.fates.back());
    }
    EXPECT_EQ(fates, pseudocode.fates);
    const auto read = discipline->Read(free);
    EXPECT_NEAR(read["classic"]["probability"].get<double>(), pseudocode.p * pseudocode.p, 1e-9);
    if (load > 1)
    {
        EXPECT_GT(reasons[Loss::QueueEarly], 100u);
        EXPECT_GT(marks[static_cast<std::size_t>(Mark::Coupled)], 100u);
    }
}

INSTANTIATE_TEST_SUITE_P(Loads,
                         DualPi2AgainstItsPseudocode,
                         testing::Combine(testing::Values(0.7, 1.0, 1.1, 1.5), testing::Values(0.0, 0.03), testing::Values(1U, 2U)));

// RFC 9332, 2.1: p_C = (p_CL / k)^2. Classic packets that react to nothing, an eleventh too many, and few L4S packets.
TEST_F(DualPi2Test, SettlesAtTheSquareOfTheCoupledProbability)
{
    Make(SAID);
    std::int64_t classic = 0;
    std::int64_t l4s = 0;
    std::uint32_t number = 0;
    std::array<double, 2> sent{};
    std::size_t markedBefore = 0;
    std::size_t droppedBefore = 0;
    for (std::int64_t now = 0; now < 60'000 * MS; now += MS)
    {
        if (now == 20'000 * MS)
        {
            sent = {};
            markedBefore = marks[static_cast<std::size_t>(Mark::Coupled)];
            droppedBefore = reasons[Loss::QueueEarly];
        }
        for (; classic <= now; classic += MS)
        {
            Put(number++, Ecn::NotEct, 1500, classic);
            ++sent[0];
        }
        for (; l4s <= now; l4s += 10 * MS)
        {
            Put(number++, Ecn::Ect1, 1500, l4s);
            ++sent[1];
        }
        Take(now);
    }
    const double dropped = static_cast<double>(reasons[Loss::QueueEarly] - droppedBefore) / sent[0];
    const double coupled = static_cast<double>(marks[static_cast<std::size_t>(Mark::Coupled)] - markedBefore) / sent[1];
    EXPECT_NEAR(dropped, 0.1, 0.005);
    EXPECT_NEAR(dropped, coupled * coupled / 4, 0.01);
    EXPECT_EQ(reasons[Loss::QueueFull], 0u);
    // The controller holds the classic queue at its target.
    EXPECT_NEAR(discipline->Read(60'000 * MS)["classic"]["delay_s"].get<double>(), 0.015, 0.004);
}

TEST_F(DualPi2Test, L4sPacketsDoNotWaitBehindClassicOnes)
{
    Make(SAID);
    for (std::uint32_t number = 0; number < 50; ++number)
    {
        Put(number, Ecn::Ect0, 1500, 0);
    }
    Put(100, Ecn::Ect1, 1500, MS / 2);
    Put(101, Ecn::Ce, 1500, MS / 2);
    EXPECT_EQ(Take(MS)->item, 100u);
    // Nine bytes of ten are for L4S while both wait.
    EXPECT_EQ(Take(2 * MS)->item, 0u);
    EXPECT_EQ(Take(3 * MS)->item, 101u);
}

TEST_F(DualPi2Test, MarksL4sPacketsThatHaveWaitedForLongerThanTheStep)
{
    Make(SAID);
    for (std::uint32_t number = 0; number < 4; ++number)
    {
        Put(number, Ecn::Ect1, 1500, 0);
    }
    for (std::int64_t now = 0; now < 4 * MS; now += MS)
    {
        Take(now);
    }
    // Not the first one of recur(), which passes 1 only with its second call, and not the last one: it is no queue any more.
    EXPECT_EQ(fates, (std::vector<Fate>{{'s', 0}, {'s', 1}, {'m', 2}, {'s', 3}}));
    EXPECT_EQ(marks[static_cast<std::size_t>(Mark::Step)], 1u);
}

// RFC 9332, 4.1.1 and 4.2.3: what reacts to nothing does not starve classic traffic, and L4S packets are dropped, too.
TEST_F(DualPi2Test, AFloodOfL4sPacketsLeavesTheClassicOnesTheirShare)
{
    auto said = SAID;
    said["packets"] = 500;
    Make(said);
    std::uint32_t number = 0;
    std::array<std::size_t, 2> sent{};
    for (std::int64_t now = 0; now < 60'000 * MS; now += MS)
    {
        Put(number++, Ecn::Ect1, 1500, now);
        Put(number++, Ecn::Ect1, 1500, now);
        if (now % (4 * MS) == 0)
        {
            Put(number++, Ecn::NotEct, 1500, now);
        }
        if (const auto frame = Take(now); frame && now > 20'000 * MS)
        {
            ++sent[frame->ecn == Ecn::NotEct];
        }
    }
    EXPECT_GE(static_cast<double>(sent[1]) / static_cast<double>(sent[0] + sent[1]), 0.1);
    EXPECT_GT(reasons[Loss::QueueEarly], 1000u);
}
