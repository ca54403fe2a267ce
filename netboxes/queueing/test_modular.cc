// SPDX-License-Identifier: GPL-2.0-or-later
#include "by_station.h"
#include "cascade.h"
#include "chance.h"
#include "make_scheduler.h"
#include "queue.h"
#include "test_random.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <set>

using namespace netboxit;
using namespace netboxit::queueing;

namespace
{

constexpr std::int64_t MS = 1'000'000;
constexpr double RATE = 12e6; // the longest packet takes 1 ms

const std::vector<std::string> WEIGHTED{"drr", "scfq", "wf2q+", "qfq", "qfq+"};

/// Channels whose states a test says.
class Channels : public Channel
{
  public:
    explicit Channels(std::vector<std::optional<double>> ofStations) : success(std::move(ofStations))
    {
        for (std::size_t station = 0; station < success.size(); ++station)
        {
            m_names.push_back("s" + std::to_string(station));
        }
    }

    const std::vector<std::string>& Stations() const override
    {
        return m_names;
    }

    std::optional<double> Success(StationId to) const override
    {
        return success[to];
    }

    std::vector<std::optional<double>> success;

  private:
    std::vector<std::string> m_names;
};

/// As queue.py dumps it; `prefetch` in bytes. With weights, lines by traffic class c0, c1, …
Json Modular(const std::string& qos, double prefetch, const std::string& mac, const std::string& policy, const Weights& weights = {})
{
    Json queue{{"discipline", "modular"},
               {"flows", 64},
               {"quantum", 1514},
               {"prefetch", prefetch},
               {"qos", {{"scheduler", qos}}},
               {"mac", {{"scheduler", mac}, {"weights", policy}}}};
    for (const auto weight : weights)
    {
        queue["lines"].push_back(
            {{"class", "c" + std::to_string(queue["lines"].size())}, {"weight", weight}, {"queue", {{"discipline", "fifo"}}}});
    }
    return queue;
}

std::unique_ptr<Discipline> Made(const Json& queue, const Channel& channel)
{
    return MakeDiscipline(queue, ChanceOf(1), [](const Waiting&, Loss) { FAIL() << "there is no limit"; }, {}, &channel);
}

} // namespace

/// Weights of the dissertation (4.3.2.6): analogical ones of losses of 0.75, 0.1 and 0 are 250, 900 and 1000.
TEST(ModularTest, OfWhatIsPrefetchedStationsSendByTheWeightsOfTheirChannels)
{
    const Channels channels({0.25, 0.9, 1.0});
    const std::vector<double> weights{250, 900, 1000};
    for (const auto& mac : WEIGHTED)
    {
        const auto discipline = Made(Modular("fifo", 1e9, mac, "analogical"), channels);
        for (std::uint32_t item = 0; item < 9'000; ++item)
        {
            discipline->Enqueue({item, LONGEST, 0, 0, 0, {}, static_cast<StationId>(item % 3)}, 0, RATE);
        }
        std::vector<double> sent(3, 0);
        for (int packet = 0; packet < 6'000; ++packet)
        {
            ++sent[*discipline->Dequeue(0)->to];
        }
        for (std::size_t station = 0; station < 3; ++station)
        {
            EXPECT_NEAR(sent[station], 6'000 * weights[station] / 2'150, 10) << mac << ", station " << station;
        }
    }
}

TEST(ModularTest, WeightsFollowTheChannels)
{
    for (const auto& mac : WEIGHTED)
    {
        Channels channels({1.0, 0.0});
        const auto discipline = Made(Modular("fifo", 1e9, mac, "analogical"), channels);
        for (std::uint32_t item = 0; item < 8'000; ++item)
        {
            discipline->Enqueue({item, LONGEST, 0, 0, 0, {}, static_cast<StationId>(item % 2)}, 0, RATE);
        }
        const auto share = [&](std::int64_t now)
        {
            int first = 0;
            for (int packet = 0; packet < 2'000; ++packet)
            {
                first += *discipline->Dequeue(now)->to == 0 ? 1 : 0;
            }
            return first;
        };
        EXPECT_GE(share(0), 1'990) << mac;
        channels.success = {0.25, 1.0};
        EXPECT_NEAR(share(10 * MS), 400, 10) << mac;
        const auto read = discipline->Read(10 * MS);
        EXPECT_EQ(read.at("stations").at("s0").at("weight"), 250) << mac;
        EXPECT_EQ(read.at("stations").at("s1").at("success"), 1.0) << mac;
    }
}

/// Grazia, 4.2.1: with nothing prefetched it is the scheduler of the QoS layer alone.
TEST(ModularTest, WithNothingPrefetchedItIsTheQosScheduler)
{
    const Channels channels({0.1, 1.0});
    for (const auto& qos : WEIGHTED)
    {
        auto alone = Modular(qos, 0, "qfq", "analogical", {7, 2, 1});
        const auto modular = Made(alone, channels);
        alone["discipline"] = qos;
        const auto wired = Made(alone, channels);
        Random random(3);
        for (std::uint32_t item = 0; item < 3'000; ++item)
        {
            const Waiting frame{item, random.Length(), 0, 0, static_cast<ClassId>(item % 3), {}, static_cast<StationId>(random.Below(2))};
            modular->Enqueue(frame, 0, RATE);
            wired->Enqueue(frame, 0, RATE);
        }
        while (const auto frame = wired->Dequeue(0))
        {
            ASSERT_EQ(modular->Dequeue(0)->item, frame->item) << qos;
        }
    }
}

/// Grazia, 4.2.2.2, Theorem 6: what a class has got is less than with the QoS scheduler alone by what is prefetched, at most; and that is Q
/// and a packet. Whatever the channels do.
TEST(ModularTest, NoClassIsBehindTheQosSchedulerByMoreThanIsPrefetched)
{
    constexpr double PREFETCHED = 20 * LONGEST;
    const Weights weights{20, 10, 1};
    for (const auto& qos : WEIGHTED)
    {
        for (const auto& mac : WEIGHTED)
        {
            Channels channels({0.0, 0.5, 0.9, 1.0});
            auto said = Modular(qos, PREFETCHED, mac, "exponential", weights);
            const auto modular = Made(said, channels);
            said["discipline"] = qos;
            const auto wired = Made(said, channels);
            Random random(4);
            for (std::uint32_t item = 0; item < 6'000; ++item)
            {
                const Waiting frame{
                    item, random.Length(), 0, 0, static_cast<ClassId>(random.Below(3)), {}, static_cast<StationId>(random.Below(4))};
                modular->Enqueue(frame, 0, RATE);
                wired->Enqueue(frame, 0, RATE);
            }
            // By the bytes that were sent in all, since packets have several lengths: the wired one's is as far as it can be by then.
            std::vector<double> sent(weights.size(), 0);
            std::vector<double> sentByWired(weights.size(), 0);
            double total = 0;
            double totalOfWired = 0;
            double worst = 0;
            for (std::int64_t now = 0; modular->Packets() > 0; now += MS)
            {
                channels.success[random.Below(4)] = random();
                const auto frame = *modular->Dequeue(now);
                sent[frame.trafficClass] += frame.bytes;
                total += frame.bytes;
                while (totalOfWired + wired->FirstBytes() <= total && wired->Packets() > 0)
                {
                    const auto other = *wired->Dequeue(now);
                    sentByWired[other.trafficClass] += other.bytes;
                    totalOfWired += other.bytes;
                }
                for (std::size_t each = 0; each < weights.size(); ++each)
                {
                    worst = std::max(worst, sentByWired[each] - sent[each]);
                }
            }
            EXPECT_LE(worst, PREFETCHED + LONGEST) << qos << " over " << mac;
            EXPECT_GE(worst, PREFETCHED / 4) << qos << " over " << mac << ": so little is no test of the bound";
        }
    }
}

/// A station that nothing reaches has a weight of 1 of 1000, and yet all of its packets go: what is prefetched fills with them.
TEST(ModularTest, NoStationStarves)
{
    constexpr int PREFETCHED = 50;
    const Channels channels({0.0, 1.0, 1.0});
    for (const auto& mac : WEIGHTED)
    {
        for (const std::string policy : {"constant", "linear", "exponential", "analogical"})
        {
            const auto discipline = Made(Modular("fifo", PREFETCHED * LONGEST, mac, policy), channels);
            std::uint32_t item = 0;
            const auto put = [&] { discipline->Enqueue({item, LONGEST, 0, 0, 0, {}, static_cast<StationId>(item % 3)}, 0, RATE), ++item; };
            for (int packet = 0; packet < 200; ++packet)
            {
                put();
            }
            int sent = 0;
            for (int packet = 0; packet < 9'000; ++packet)
            {
                sent += *discipline->Dequeue(0)->to == 0 ? 1 : 0;
                put();
            }
            EXPECT_NEAR(sent, 3'000, PREFETCHED + 1) << mac << ", " << policy;
        }
    }
}

/// The reason for it all (Grazia, 4.1.3): a channel that changes lets a packet wait until its receiver can be reached. Twenty receivers, each
/// good or bad for 50 packets in the mean: without it a half of the packets go to a bad one.
TEST(ModularTest, PacketsWaitForTheirReceiversToBeReachable)
{
    constexpr std::size_t STATIONS = 20;
    std::map<double, double> throughput;
    for (const double prefetched : {0.0, 100.0 * LONGEST})
    {
        Channels channels(std::vector<std::optional<double>>(STATIONS, 1.0));
        const auto discipline = Made(Modular("qfq+", prefetched, "qfq+", "analogical", {20, 10, 1}), channels);
        Random random(6);
        std::uint32_t item = 0;
        const auto put = [&]
        {
            discipline->Enqueue(
                {item, LONGEST, 0, 0, static_cast<ClassId>(item % 3), {}, static_cast<StationId>(random.Below(STATIONS))}, 0, RATE);
            ++item;
        };
        for (int packet = 0; packet < 600; ++packet)
        {
            put();
        }
        constexpr int PACKETS = 50'000;
        double arrived = 0;
        for (std::int64_t now = 0; now < PACKETS * MS; now += MS)
        {
            for (auto& success : channels.success)
            {
                success = random() < 1.0 / 50 ? 1.0 - *success : *success;
            }
            arrived += *channels.success[*discipline->Dequeue(now)->to];
            put();
        }
        throughput[prefetched] = arrived / PACKETS;
    }
    EXPECT_NEAR(throughput.begin()->second, 0.5, 0.02);
    EXPECT_GE(throughput.rbegin()->second, 0.9);
}

/// Random arrivals, departures, channels, receivers that go away, and other settings and queues while packets wait: each packet is sent or
/// lost, once; none waits beside an idle transmitter; of a class, the packets to a station keep their order.
TEST(ModularTest, NoPacketIsLostUncountedAndNoneWaitsBesideAnIdleTransmitter)
{
    Random random(7);
    const std::vector<std::string> policies{"constant", "linear", "exponential", "analogical"};
    auto schedulers = WEIGHTED;
    schedulers.insert(schedulers.end(), {"fifo", "priority"});
    for (int trial = 0; trial < 200; ++trial)
    {
        Channels channels({1.0, 0.5, std::nullopt, 0.0});
        const auto said = [&]
        {
            auto queue = Modular(schedulers[random.Below(7)],
                                 random.Below(3) * 8 * LONGEST,
                                 WEIGHTED[random.Below(5)],
                                 policies[random.Below(4)],
                                 {1 + random.Below(100), 1 + random.Below(100)});
            queue["packets"] = 60;
            queue["lines"][0]["queue"]["packets"] = queue["lines"][1]["queue"]["packets"] = 60;
            return random() < 0.8 ? queue : Json{{"discipline", "fifo"}, {"packets", 150}};
        };
        std::set<std::uint32_t> waiting;
        std::optional<StationId> away; // now
        const auto lose = [&](std::uint32_t item, Loss reason)
        {
            EXPECT_EQ(waiting.erase(item), 1u);
            EXPECT_EQ(reason, away ? Loss::Outage : Loss::QueueFull);
            EXPECT_TRUE(!away || item % 5 == *away);
        };
        Queue<std::uint32_t> queue(said(), ChanceOf(1), lose, {}, MakerOf(&channels));
        std::map<std::uint32_t, std::uint32_t> latest;
        std::int64_t now = 0;
        const auto send = [&]
        {
            const auto item = queue.Dequeue(now);
            ASSERT_EQ(item.has_value(), !waiting.empty());
            if (item)
            {
                ASSERT_EQ(waiting.erase(*item), 1u);
                ASSERT_GE(*item, latest[*item % 10]);
                latest[*item % 10] = *item;
                now += MS;
            }
        };
        for (std::uint32_t item = 10; item <= 2'000; ++item)
        {
            // One of ten kinds: of two classes, to one of four stations or to all.
            const auto kind = item % 10;
            const auto to = kind % 5 < 4 ? std::optional<StationId>(kind % 5) : std::nullopt;
            waiting.insert(item);
            queue.Enqueue(item, {random.Length(), static_cast<ClassId>(kind / 5), {}, to}, now, RATE);
            ASSERT_EQ(queue.Packets(), waiting.size());
            while (random() < 0.45)
            {
                send();
            }
            if (random() < 0.02)
            {
                channels.success[random.Below(2)] = random();
            }
            if (random() < 0.01)
            {
                queue.Set(said(), now, RATE);
                ASSERT_EQ(queue.Packets(), waiting.size());
            }
            if (random() < 0.01)
            {
                away = random.Below(4);
                queue.ClearTo(*away, Loss::Outage, now);
                ASSERT_TRUE(std::ranges::none_of(waiting, [&](std::uint32_t left) { return left % 5 == *away; }));
                ASSERT_EQ(queue.Packets(), waiting.size());
                away.reset();
            }
            if (random() < 0.01)
            {
                auto moving = queue.MoveOut(now);
                ASSERT_EQ(moving.size(), waiting.size());
                ASSERT_TRUE(queue.IsEmpty());
                for (auto& each : moving)
                {
                    queue.MoveIn(std::move(each), now, RATE);
                }
                ASSERT_EQ(queue.Packets(), waiting.size());
            }
        }
        while (!waiting.empty())
        {
            send();
        }
        ASSERT_TRUE(queue.IsEmpty());
        ASSERT_EQ(queue.Bytes(), 0u);
    }
}

TEST(ModularTest, LosesWhatIsForOneReceiverAndKeepsTheOrderOfTheOthers)
{
    const Channels channels({1.0, 1.0, 1.0});
    for (const auto& qos : {"fifo", "drr", "scfq", "wf2q+", "qfq", "qfq+"})
    {
        for (const auto prefetched : {0, 5})
        {
            std::vector<int> lost;
            const auto lose = [&](int item, Loss) { lost.push_back(item); };
            Queue<int> queue(Modular(qos, prefetched * LONGEST, "qfq+", "analogical"), ChanceOf(1), lose, {}, MakerOf(&channels));
            for (int item = 0; item < 30; ++item)
            {
                queue.Enqueue(item, {LONGEST, {}, {}, static_cast<StationId>(item % 3)}, 0, RATE);
            }
            queue.ClearTo(1, Loss::Outage, MS);
            EXPECT_EQ(lost, (std::vector{1, 4, 7, 10, 13, 16, 19, 22, 25, 28}));
            EXPECT_EQ(queue.Read(MS).at("bytes"), 20 * LONGEST);
            std::array<int, 3> latest{-3, -2, -1};
            while (const auto item = queue.Dequeue(MS))
            {
                EXPECT_EQ(*item, std::exchange(latest[*item % 3], *item) + 3);
            }
            EXPECT_EQ(latest, (std::array{27, -2, 29}));
        }
    }
}

TEST(ModularTest, TellsOfWhatIsPrefetchedAndOfReceiversAlone)
{
    const Channels channels({std::nullopt, 0.4, 1.0});
    Queue<int> queue(Modular("wf2q+", 3 * LONGEST, "qfq", "analogical", {3, 1}), ChanceOf(1), {}, {}, MakerOf(&channels));
    for (int item = 0; item < 8; ++item)
    {
        queue.Enqueue(item, {LONGEST, static_cast<ClassId>(item % 2), {}, StationId{1}}, 0, RATE);
    }
    const auto read = queue.Read(0);
    EXPECT_EQ(read.at("packets"), 8);
    EXPECT_EQ(read.at("prefetched"), (Json{{"packets", 3}, {"bytes", 3 * LONGEST}}));
    EXPECT_EQ(read.at("stations"),
              (Json{{"s1", {{"packets", 3}, {"success", 0.4}, {"weight", 400}}}, {"s2", {{"packets", 0}, {"success", 1.0}, {"weight", 1000}}}}));
    EXPECT_EQ(read.at("classes").size(), 2u);
}

TEST(ModularTest, SaysWhatItNeeds)
{
    const auto refused = [](const Json& queue, const Channel* channel)
    {
        try
        {
            MakeDiscipline(queue, {}, {}, {}, channel);
        }
        catch (const OutOfRange& error)
        {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_EQ(refused(Modular("qfq", 0, "qfq", "constant"), nullptr),
              "queue: modular needs the state of each receiver's radio channel, which this technology does not tell its queues; use wf2q+ or "
              "qfq+");
    const Channels channels({1.0});
    EXPECT_NE(refused(Modular("qfq", 0, "priority", "constant"), &channels).find("its scheduler is drr, scfq"), std::string::npos);
    EXPECT_NE(refused(Modular("qfq", 0, "qfq", "fair"), &channels).find("its weights are constant, linear"), std::string::npos);
    const Json nested{{"discipline", "drr"},
                      {"quantum", 1514},
                      {"lines", {{{"class", "default"}, {"weight", 1}, {"queue", Modular("qfq", 0, "qfq", "constant")}}}}};
    EXPECT_NE(refused(nested, &channels).find("nesting too deep"), std::string::npos);
}
