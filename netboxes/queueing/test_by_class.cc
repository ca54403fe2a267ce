// SPDX-License-Identifier: GPL-2.0-or-later
#include "by_class.h"
#include "chance.h"
#include "fifo.h"
#include "make_scheduler.h"
#include "queue.h"
#include "test_random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>
#include <set>

using namespace netboxit;
using namespace netboxit::queueing;

namespace
{

constexpr std::int64_t MS = 1'000'000;
constexpr double RATE = 1e6;

const std::vector<std::string> WEIGHTED{"drr", "scfq", "wf2q+", "qfq", "qfq+"};

std::int64_t TimeOf(std::uint32_t bytes)
{
    return std::llround(8e9 * bytes / RATE);
}

/// A queue of a class, as netbox.json has it.
Json Inner(const std::string& discipline, const Json& packets = nullptr)
{
    return {{"discipline", discipline}, {"packets", packets}, {"target", 0.005}, {"interval", 0.1},   {"burst", 0.15},
            {"flows", 16},              {"quantum", 1514},    {"minimum", 5},    {"maximum", 15},     {"probability", 0.1},
            {"weight", 0.002}};
}

/// Classes c0, c1, … with these weights and queues.
Json Outer(const std::string& discipline, const Weights& weights, const Json& inner)
{
    auto lines = Json::array();
    for (const auto weight : weights)
    {
        lines.push_back({{"class", "c" + std::to_string(lines.size())}, {"weight", weight}, {"queue", inner}});
    }
    return {{"discipline", discipline}, {"quantum", 1514}, {"flows", 1024}, {"lines", lines}};
}

/// Drops at the head when its turn comes, by chance, all if it comes to that.
class Fickle : public Fifo
{
  public:
    Fickle(Chance chance, std::size_t least, DropCallback dropped)
        : Fifo(Room(), std::move(dropped)), m_chance(std::move(chance)), m_least(least)
    {
    }

    std::optional<Waiting> Dequeue(std::int64_t) override
    {
        while (!Waits().IsEmpty())
        {
            const auto frame = Waits().Pop();
            if (Waits().Packets() < m_least || m_chance() < 0.6)
            {
                return frame;
            }
            Drop(frame, Loss::QueueEarly);
        }
        return std::nullopt;
    }

  private:
    Chance m_chance;
    std::size_t m_least; ///< packets that are left of those that drops take
};

/// Classes that have always something: how far each is from its share of what was sent, at most, in bytes.
template <typename Made>
double FarthestFromShares(Made make, const Weights& weights, int packets)
{
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    std::vector<std::size_t> waiting(weights.size(), 0);
    auto discipline = make([&waiting](const Waiting& frame, Loss) { --waiting[frame.trafficClass]; });
    Random random(3);
    std::vector<double> sent(weights.size(), 0);
    double total = 0;
    double farthest = 0;
    std::int64_t now = 0;
    for (int packet = 0; packet < packets; ++packet)
    {
        for (ClassId each = 0; each < weights.size(); ++each)
        {
            // A discipline that drops what comes never lets it be so many.
            for (int tries = 0; waiting[each] < 40 && tries < 50; ++tries)
            {
                ++waiting[each];
                discipline->Enqueue({0, random.Length(), now, random.Below(1000), each}, now, RATE);
            }
        }
        const auto frame = discipline->Dequeue(now);
        EXPECT_TRUE(frame);
        now += TimeOf(frame->bytes);
        --waiting[frame->trafficClass];
        sent[frame->trafficClass] += frame->bytes;
        total += frame->bytes;
        for (std::size_t each = 0; each < weights.size(); ++each)
        {
            farthest = std::max(farthest, std::abs(sent[each] - total * weights[each] / sum));
        }
    }
    return farthest;
}

} // namespace

/// Bennett and Zhang (1997): under WF2Q+ no line is behind its share, or ahead of it, by more than the longest packet. Drops at the head when
/// a packet's turn comes are no service. The others' bounds: test_scheduler.cc.
TEST(ByClassTest, WhatIsSentIsByTheWeightsWithinAPacketWhateverIsDropped)
{
    const Weights weights{20, 5, 1, 1};
    for (const std::string inner : {"fifo", "codel", "pie", "red", "fq-codel", "drr"})
    {
        const auto made = [&](const DropCallback& dropped)
        { return MakeDiscipline(Outer("wf2q+", weights, Inner(inner)), ChanceOf(1), dropped, {}); };
        EXPECT_LE(FarthestFromShares(made, weights, 20'000), LONGEST + 1e-3) << inner;
    }
    const auto fickle = [&](const DropCallback& dropped)
    {
        std::vector<std::unique_ptr<Discipline>> lines;
        for (std::size_t line = 0; line < weights.size(); ++line)
        {
            lines.push_back(std::make_unique<Fickle>(Random(static_cast<unsigned>(line)), 1, dropped));
        }
        return std::make_unique<ByClass>(std::move(lines), MakeScheduler("wf2q+", weights, LONGEST));
    };
    EXPECT_LE(FarthestFromShares(fickle, weights, 50'000), LONGEST + 1e-3);
}

TEST(ByClassTest, InTheLongRunEachSchedulerSharesByTheWeightsWhateverIsDropped)
{
    const Weights weights{20, 5, 1, 1};
    constexpr int PACKETS = 100'000;
    for (const auto& scheduler : WEIGHTED)
    {
        const auto made = [&](const DropCallback& dropped)
        { return MakeDiscipline(Outer(scheduler, weights, Inner("codel")), ChanceOf(1), dropped, {}); };
        // A round of DRR is 27 quanta; an aggregate of QFQ+ has up to 8 packets of each line.
        EXPECT_LE(FarthestFromShares(made, weights, PACKETS), 27 * 1514 + 8 * LONGEST) << scheduler;
    }
}

/// Parekh and Gallager (1993) for a fluid server, and a packet more for WF2Q+; one of each other class more for SCFQ (Golestani, 1994). With
/// strict priority: the packet in service and its own time. Voice: 200 bytes each 20 ms, 80 of 100 kbit/s that it has; three greedy classes.
TEST(ByClassTest, VoiceWaitsNoLongerThanTheClosedFormsSay)
{
    constexpr std::uint32_t VOICE = 200;
    const Weights weights{1, 3, 3, 3};
    const double fluid = 8.0 * VOICE / (RATE / 10);
    const double longest = 8.0 * LONGEST / RATE;
    const std::map<std::string, double> bounds{
        {"wf2q+", fluid + longest}, {"scfq", fluid + 3 * longest}, {"priority", 8.0 * VOICE / RATE + longest}};
    for (const auto& [scheduler, bound] : bounds)
    {
        const auto discipline =
            MakeDiscipline(Outer(scheduler, weights, Inner("fifo")), ChanceOf(1), [](const Waiting&, Loss) { FAIL(); }, {});
        Random random(5);
        std::int64_t now = 0;
        std::int64_t voice = 0;
        double worst = 0;
        std::vector<int> waiting(weights.size(), 0);
        const auto put = [&](ClassId trafficClass, std::uint32_t bytes, std::int64_t at)
        {
            discipline->Enqueue({0, bytes, at, 0, trafficClass}, at, RATE);
            ++waiting[trafficClass];
        };
        for (int packet = 0; packet < 30'000; ++packet)
        {
            for (; voice <= now; voice += 20 * MS)
            {
                put(0, VOICE, voice);
            }
            for (ClassId greedy = 1; greedy < weights.size(); ++greedy)
            {
                while (waiting[greedy] < 3)
                {
                    put(greedy, random.Length(), now);
                }
            }
            const auto frame = discipline->Dequeue(now);
            ASSERT_TRUE(frame);
            --waiting[frame->trafficClass];
            now += TimeOf(frame->bytes);
            if (frame->trafficClass == 0)
            {
                worst = std::max(worst, static_cast<double>(now - frame->entered) / 1e9);
            }
        }
        EXPECT_LE(worst, bound + 1e-6) << scheduler;
        EXPECT_GE(worst, bound / 4) << scheduler << ": so little is no test of the bound";
    }
}

/// Random arrivals and departures: each packet is sent or dropped or waits, once; what waits is sent, unless all is dropped at that; a class's
/// own packets keep their order; and no class that has something waits for ever.
TEST(ByClassTest, NoPacketIsLostUncountedAndNoneWaitsBesideAnIdleTransmitter)
{
    Random random(7);
    auto schedulers = WEIGHTED;
    schedulers.emplace_back("priority");
    const std::vector<std::string> inners{"fifo", "codel", "fq-codel", "pie", "red", "wf2q+", "fickle"};
    for (int trial = 0; trial < 400; ++trial)
    {
        const auto& scheduler = schedulers[random.Below(static_cast<std::uint32_t>(schedulers.size()))];
        const auto& inner = inners[random.Below(static_cast<std::uint32_t>(inners.size()))];
        Weights weights(1 + random.Below(6));
        std::ranges::generate(weights, [&random] { return 1 + random.Below(1024); });
        std::set<std::uint32_t> waiting;
        std::size_t dropped = 0;
        const auto drop = [&](const Waiting& frame, Loss)
        {
            EXPECT_EQ(waiting.erase(frame.item), 1u);
            ++dropped;
        };
        std::unique_ptr<Discipline> discipline;
        if (inner == "fickle")
        {
            std::vector<std::unique_ptr<Discipline>> lines;
            for (std::size_t line = 0; line < weights.size(); ++line)
            {
                lines.push_back(std::make_unique<Fickle>(std::ref(random), 0, drop));
            }
            discipline = std::make_unique<ByClass>(std::move(lines), MakeScheduler(scheduler, weights, LONGEST));
        }
        else
        {
            discipline = MakeDiscipline(Outer(scheduler, weights, Inner(inner, 1 + random.Below(60))), ChanceOf(trial), drop, {});
        }
        std::vector<std::uint32_t> latest(weights.size(), 0);
        const bool isInOrder = inner != "fq-codel" && inner != "wf2q+";
        const double load = 0.5 + random();
        std::int64_t now = 0;
        const auto send = [&]
        {
            const auto before = dropped;
            const bool had = discipline->Packets() > 0;
            const auto frame = discipline->Dequeue(now);
            ASSERT_TRUE(frame || !had || (dropped > before && discipline->Packets() == 0)) << scheduler << " over " << inner;
            if (frame)
            {
                ASSERT_EQ(waiting.erase(frame->item), 1u);
                ASSERT_TRUE(!isInOrder || frame->item > latest[frame->trafficClass]) << inner;
                latest[frame->trafficClass] = frame->item;
                now += TimeOf(frame->bytes);
            }
        };
        for (std::uint32_t item = 1; item <= 2'000; ++item)
        {
            const auto trafficClass = static_cast<ClassId>(random.Below(static_cast<std::uint32_t>(weights.size())));
            waiting.insert(item);
            discipline->Enqueue({item, random.Length(), now, random.Below(5), trafficClass}, now, RATE);
            ASSERT_EQ(discipline->Packets(), waiting.size());
            while (random() > load / (1 + load))
            {
                send();
            }
            ASSERT_EQ(discipline->Packets(), waiting.size());
            if (random() < 0.01)
            {
                const auto old = discipline->TakeOlder(now - 50 * MS);
                ASSERT_TRUE(!old || waiting.erase(old->item) == 1);
            }
        }
        // Nothing comes any more: so many turns as packets are enough for all.
        for (auto turns = waiting.size(); turns > 0; --turns)
        {
            send();
        }
        ASSERT_TRUE(waiting.empty()) << scheduler << " over " << inner;
        ASSERT_EQ(discipline->Bytes(), 0u);
        ASSERT_EQ(discipline->FirstBytes(), 0u);
    }
}

/// FQ-CoDel drops up to the half of a flow's bytes to make room: of a short packet before a long one, both.
TEST(ByClassTest, ALineThatDropsAllOfItselfToMakeRoomGoesOn)
{
    for (const auto& scheduler : WEIGHTED)
    {
        int dropped = 0;
        const auto discipline = MakeDiscipline(
            Outer(scheduler, {1, 1}, Inner("fq-codel", 1)), ChanceOf(1), [&](const Waiting&, Loss) { ++dropped; }, {});
        discipline->Enqueue({0, 100, 0, 0, 0}, 0, RATE);
        discipline->Enqueue({1, 1500, 0, 0, 0}, 0, RATE);
        EXPECT_EQ(dropped, 2);
        discipline->Enqueue({2, 500, 0, 0, 0}, 0, RATE);
        EXPECT_EQ(discipline->Dequeue(0)->item, 2u);
        EXPECT_FALSE(discipline->Dequeue(0));
    }
}

TEST(ByClassTest, EachClassHasItsOwnRoomAndTheLastOneWhatIsOfNoOther)
{
    std::vector<std::uint32_t> dropped;
    const auto discipline = MakeDiscipline(
        Outer("drr", {4, 1}, Inner("fifo", 2)), ChanceOf(1), [&](const Waiting& frame, Loss) { dropped.push_back(frame.item); }, {});
    const std::vector<ClassId> classes{1, 1, 1, 0, 5, 0, 0};
    for (std::uint32_t item = 0; item < classes.size(); ++item)
    {
        discipline->Enqueue({item, 1000, 0, 0, classes[item]}, 0, RATE);
    }
    EXPECT_EQ(dropped, (std::vector<std::uint32_t>{2, 4, 6}));
}

namespace
{

/// Queues of two classes with 50 packets each, c0's with even and c1's with odd numbers.
class LiveClassesTest : public testing::Test
{
  protected:
    LiveClassesTest()
        : queue(Outer("wf2q+", {1, 1}, Inner("fifo", 50)), ChanceOf(1), [this](int item, Loss) { lost.push_back(item); }, {})
    {
        for (int item = 0; item < 100; ++item)
        {
            queue.Enqueue(item, {1000, static_cast<ClassId>(item % 2), {}}, item, RATE);
        }
    }

    std::vector<int> Sent(int packets, std::int64_t now)
    {
        std::vector<int> items;
        for (int packet = 0; packet < packets; ++packet)
        {
            items.push_back(queue.Dequeue(now).value_or(-1));
        }
        return items;
    }

    static long OfC0(const std::vector<int>& items)
    {
        return std::ranges::count_if(items, [](int item) { return item % 2 == 0; });
    }

    Json Of(std::size_t place, const std::string& key, std::int64_t now) const
    {
        return queue.Read(now).at("classes").at(place).at(key);
    }

    std::vector<int> lost;
    Queue<int> queue;
};

} // namespace

TEST_F(LiveClassesTest, OtherWeightsHoldAtOnceForWhatWaits)
{
    EXPECT_EQ(OfC0(Sent(20, MS)), 10);
    for (const auto& scheduler : WEIGHTED)
    {
        queue.Set(Outer(scheduler, {4, 1}, Inner("fifo", 50)), MS, RATE);
        EXPECT_NEAR(static_cast<double>(OfC0(Sent(10, MS))), 8, 2) << scheduler;
    }
    EXPECT_TRUE(lost.empty());
}

TEST_F(LiveClassesTest, OtherDisciplinesAndBackLoseNothingAndKeepTheOrderOfAClass)
{
    std::vector<int> sent;
    for (const auto& said : {Outer("priority", {1, 1}, Inner("fq-codel")), Inner("fifo"), Outer("drr", {3, 1}, Inner("pie")),
                             Outer("qfq+", {1, 9}, Inner("red")), Inner("codel")})
    {
        queue.Set(said, MS, RATE);
        for (const auto item : Sent(15, MS))
        {
            sent.push_back(item);
        }
    }
    EXPECT_TRUE(lost.empty());
    EXPECT_EQ(queue.Packets(), 25u);
    for (const auto item : Sent(25, MS))
    {
        sent.push_back(item);
    }
    EXPECT_EQ(std::set<int>(sent.begin(), sent.end()).size(), 100u);
    std::erase_if(sent, [](int item) { return item % 2 == 1; });
    EXPECT_TRUE(std::ranges::is_sorted(sent));
}

TEST_F(LiveClassesTest, TellsOfEachClassWhatItTellsOfTheWhole)
{
    Sent(20, MS);
    queue.Enqueue(200, {1000, 0, {}}, MS, RATE);
    for (int item = 0; item < 15; ++item)
    {
        queue.Enqueue(201, {1000, 1, {}}, MS, RATE);
    }
    EXPECT_EQ(Of(0, "class", MS), "c0");
    EXPECT_EQ(Of(0, "packets", MS), 41);
    EXPECT_EQ(Of(0, "bytes", MS), 41'000);
    EXPECT_EQ(Of(1, "packets", MS), 50);
    EXPECT_EQ(Of(0, "delay_s", MS), static_cast<double>(MS - 18) / 1e9);
    EXPECT_EQ(Of(1, "dropped", MS).at("full"), 5);
    EXPECT_EQ(queue.Read(MS).at("dropped").at("full"), 5);
    // What was counted goes on with other weights, and begins anew with a class that is new.
    queue.Set(Outer("drr", {2, 1}, Inner("fifo", 50)), 2 * MS, RATE);
    EXPECT_EQ(Of(1, "dropped", 2 * MS).at("full"), 5);
    EXPECT_EQ(Of(0, "packets", 2 * MS), 41);
    EXPECT_EQ(Of(0, "length", 2 * MS).at("max"), 50);
    queue.ResetStatistics(2 * MS);
    EXPECT_EQ(Of(1, "dropped", 2 * MS).at("full"), 0);
    EXPECT_EQ(Of(0, "length", 3 * MS).at("mean"), 41);
    queue.Set(Inner("fifo"), 3 * MS, RATE);
    EXPECT_FALSE(queue.Read(3 * MS).contains("classes"));
}

TEST_F(LiveClassesTest, NestingTooDeepAndClassesWithoutNamesChangeNothing)
{
    const auto inner = Outer("drr", {1, 1}, Inner("fifo"));
    auto nameless = inner;
    nameless["lines"][1]["class"] = 7;
    for (const auto& bad : {Outer("wf2q+", {1, 1}, inner), Outer("wf2q+", {1, 1}, Inner("priority")), nameless})
    {
        EXPECT_THROW(queue.Set(bad, MS, RATE), OutOfRange);
    }
    EXPECT_EQ(queue.Packets(), 100u);
    EXPECT_EQ(OfC0(Sent(20, MS)), 10);
    EXPECT_TRUE(lost.empty());
}

TEST(ByClassTest, AClassMarksWhereItsOwnQueueSaysSo)
{
    auto said = Outer("drr", {1, 1}, Inner("codel"));
    said["lines"][0]["queue"]["ecn"] = true;
    int lost = 0;
    int marked = 0;
    Queue<int> queue(
        said, ChanceOf(1), [&](int item, Loss) { lost += item == 0; }, [&](int item) { return ++marked > 0; });
    // Twice of what is sent comes: both lines stay far above CoDel's target.
    for (std::int64_t now = 0; now < 2000 * MS; now += MS)
    {
        queue.Enqueue(0, {1500, 0, {}}, now, RATE);
        queue.Enqueue(1, {1500, 1, {}}, now, RATE);
        queue.Dequeue(now);
    }
    const auto classes = queue.Read(2000 * MS).at("classes");
    EXPECT_GT(marked, 5);
    EXPECT_EQ(classes[0].at("marked").at("early"), marked);
    EXPECT_EQ(classes[0].at("dropped").at("early"), 0);
    EXPECT_EQ(lost, 0);
    EXPECT_EQ(classes[1].at("marked").at("early"), 0);
    EXPECT_GT(classes[1].at("dropped").at("early"), 5);
}
