// SPDX-License-Identifier: GPL-2.0-or-later
// RLP in and out of sequence: sections 4.2.2 and 5.2.2.
#include "test_link.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <random>
#include <set>

using namespace netboxit::multiservice;
using namespace netboxit::multiservice::testing;

namespace
{

/// Of ../multiservice/profiles.py, for Cellular with one attempt; packets come as conferencing sends them (T5.1).
const Json ONCE = RlpOf("rlp", 1, 0.662, 0.5);
constexpr std::int64_t INTERVAL = 41'666'667;
constexpr std::uint32_t PACKET = 50;

/// Packets of which so many have been lost behind `links` links in a row, each with independent losses both ways.
std::uint64_t LostBehind(unsigned links, const char* scheme, double loss, std::uint64_t packets, unsigned seed)
{
    Events events;
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> uniform;
    auto settings = ONCE;
    settings["scheme"] = scheme;
    std::vector<std::unique_ptr<TestLink>> path;
    std::uint64_t arrived = 0;
    for (unsigned link = 0; link < links; ++link)
    {
        path.push_back(std::make_unique<TestLink>(
            events, CELLULAR, Layer({settings}), [&](int, const AirFrame&) { return Fate{.isLost = uniform(random) < loss}; }));
        path[link]->keepsDepartures = path[link]->keepsDeliveries = false;
        path[link]->onDelivery = [&, link](int, const Delivery& delivery)
        {
            if (link + 1 == links)
            {
                ++arrived;
                return;
            }
            // Not within the delivery.
            events.At(events.Now(), [&, link, item = delivery.item] { path[link + 1]->Send(0, item, PACKET); });
        };
    }
    for (std::uint64_t item = 1; item <= packets; ++item)
    {
        path[0]->Send(0, item, PACKET);
        events.RunUntil(events.Now() + INTERVAL);
    }
    events.RunUntil(events.Now() + 20 * SECOND);
    return packets - arrived;
}

struct Trace
{
    Trace(const Json& scheme, unsigned packets, std::function<bool(int from, const AirFrame&)> isLost)
        : link(events, PCS, Layer({scheme}), [isLost](int from, const AirFrame& frame)
               { return Fate{.isLost = isLost(from, frame)}; })
    {
        for (unsigned packet = 1; packet <= packets; ++packet)
        {
            link.Send(0, packet, 250);
            events.RunUntil(events.Now() + 32 * MILLISECOND);
        }
        events.RunUntil(events.Now() + 10 * SECOND);
    }

    Events events;
    TestLink link;
};

} // namespace

TEST(RlpTest, ResidualLossIsThatOfOneNak)
{
    // A5: p(1 - (1-p)^2), in % to three digits, behind one link and behind two.
    const std::map<double, std::pair<double, double>> expected{
        {0.01, {0.020, 0.040}}, {0.02, {0.079, 0.158}}, {0.05, {0.488, 0.973}}, {0.1, {1.900, 3.764}}};
    constexpr std::uint64_t PACKETS = 100'000;
    unsigned seed = 0;
    for (const auto& [loss, percents] : expected)
    {
        for (const unsigned links : {1, 2})
        {
            for (const char* const scheme : {"rlp", "rlp-oos"})
            {
                const auto probability = (links == 1 ? percents.first : percents.second) / 100;
                EXPECT_NEAR(probability, 1 - std::pow(1 - loss * (1 - std::pow(1 - loss, 2)), links), 6e-6);
                const auto sigma = std::sqrt(PACKETS * probability * (1 - probability));
                const auto lost = static_cast<double>(LostBehind(links, scheme, loss, PACKETS, ++seed));
                EXPECT_NEAR(lost, PACKETS * probability, 3 * sigma)
                    << scheme << ' ' << loss << ' ' << links;
            }
        }
    }
}

TEST(RlpTest, NoFrameIsSentAgainThatWasNotNamedAndNoneComesOutOfOrder)
{
    // A6.
    for (const char* const scheme : {"rlp", "rlp-oos"})
    {
        SCOPED_TRACE(scheme);
        Events events;
        std::mt19937 random(3);
        std::multiset<unsigned> named;
        TestLink link(events, PCS, Layer({RlpOf(scheme, 3, 1.108, 0.5)}), [&](int from, const AirFrame& frame)
                      {
                          const bool isLost = random() % 5 == 0;
                          if (from == 1 && frame.type == FrameType::Nak && !isLost)
                          {
                              named.insert(frame.sequence);
                          }
                          if (from == 0 && frame.isRetransmission)
                          {
                              const auto found = named.find(frame.sequence);
                              EXPECT_NE(found, named.end()) << frame.sequence;
                              named.erase(found);
                          }
                          return Fate{.isLost = isLost};
                      });
        std::uint64_t latest = 0;
        std::int64_t held = 0;
        std::map<std::uint64_t, std::int64_t> arrived;
        link.onDelivery = [&](int, const Delivery& delivery)
        {
            EXPECT_TRUE(scheme == std::string("rlp-oos") || delivery.item > latest);
            latest = delivery.item;
            held += delivery.at - arrived[delivery.item];
        };
        for (std::uint64_t item = 1; item <= 20'000; ++item)
        {
            link.Send(0, item, 250);
            events.RunUntil(events.Now() + 70 * MILLISECOND);
        }
        events.RunUntil(events.Now() + 10 * SECOND);
        EXPECT_GT(link[0].StatisticsOf(0).retransmissions, 3000U);
    }
}

TEST(RlpTest, OutOfSequenceHoldsNoFrame)
{
    // A6: each packet comes up when its frame arrives.
    Events events;
    std::mt19937 random(4);
    std::map<std::uint64_t, std::int64_t> arrival;
    TestLink link(events, PCS, Layer({RlpOf("rlp-oos", 3, 1.108, 0.5)}), [&](int from, const AirFrame& frame)
                  {
                      const bool isLost = random() % 5 == 0;
                      if (from == 0 && frame.payload && !isLost)
                      {
                          arrival.emplace(frame.payload.Item(), events.Now() + PCS.delay);
                      }
                      return Fate{.isLost = isLost};
                  });
    for (std::uint64_t item = 1; item <= 5000; ++item)
    {
        link.Send(0, item, 250);
        events.RunUntil(events.Now() + 70 * MILLISECOND);
    }
    events.RunUntil(events.Now() + 10 * SECOND);
    ASSERT_GT(link.Delivered(1).size(), 4900U);
    for (const auto& delivery : link.Delivered(1))
    {
        EXPECT_EQ(delivery.at, arrival.at(delivery.item));
    }
}

TEST(RlpTest, AFrameIsNamedAsOftenAsThereAreAttemptsAndThenGivenUp)
{
    Trace trace(RlpOf("rlp", 3, 0.3, 0.5), 5, [](int from, const AirFrame& frame) { return from == 0 && frame.sequence == 1; });
    std::vector<std::int64_t> naks;
    for (const auto& departure : trace.link.Departures(1))
    {
        EXPECT_EQ(departure.type, FrameType::Nak);
        EXPECT_EQ(departure.sequence, 1);
        naks.push_back(departure.ends);
    }
    ASSERT_EQ(naks.size(), 3U);
    // Timers run from the end of a NAK's transmission, which takes 16 bits.
    EXPECT_EQ(naks[1] - naks[0], 300 * MILLISECOND + PCS.TimeOf(2));
    EXPECT_EQ(naks[2] - naks[1], 300 * MILLISECOND + PCS.TimeOf(2));
    EXPECT_EQ(trace.link.DeliveredItems(1), (std::vector<std::uint64_t>{1, 3, 4, 5}));
    EXPECT_EQ(trace.link.Delivered(1)[1].at, naks[2] + 300 * MILLISECOND); // the hole becomes visible above
    ASSERT_NE(trace.link.Settled(2), nullptr);
    EXPECT_FALSE(trace.link.Settled(2)->isDelivered);
    EXPECT_EQ(trace.link.Settled(2)->reason, Drop::GivenUp);
    EXPECT_EQ(trace.link[1].StatisticsOf(0).lost, 1U);
    EXPECT_EQ(trace.link[1].StatisticsOf(0).timeouts, 3U);
}

TEST(RlpTest, AKeepaliveShowsThatTheLastFrameWasLost)
{
    bool isFirst = true;
    Trace trace(RlpOf("rlp", 1, 0.662, 0.5), 3, [&isFirst](int from, const AirFrame& frame)
                { return from == 0 && frame.sequence == 2 && std::exchange(isFirst, false); });
    EXPECT_EQ(trace.link.DeliveredItems(1), (std::vector<std::uint64_t>{1, 2, 3}));
    const auto& departures = trace.link.Departures(0);
    const auto keepalive = std::ranges::find(departures, FrameType::KeepAlive, &Departure::type);
    ASSERT_NE(keepalive, departures.end());
    EXPECT_EQ(trace.link[1].StatisticsOf(0).lost, 0U);
    EXPECT_EQ(trace.link[1].StatisticsOf(0).timeouts, 0U);
    EXPECT_EQ(keepalive->sequence, 2);
    EXPECT_EQ(keepalive->bytes, 2U);
    EXPECT_EQ(keepalive->ends, 2 * 32 * MILLISECOND + 500 * MILLISECOND + PCS.TimeOf(2));
}

TEST(RlpTest, ASilenceLongerThanTheRingStartsTheReceiverAnew)
{
    // 150 frames are lost in a row: what comes then looks like an old one. The ring takes 128 frames' time, 4.03 s.
    unsigned frames = 0;
    Trace trace(RlpOf("rlp", 1, 0.662, 10), 400, [&frames](int from, const AirFrame&)
                { return from == 0 && ++frames > 100 && frames <= 250; });
    std::vector<std::uint64_t> expected;
    for (std::uint64_t item = 1; item <= 400; ++item)
    {
        if (item <= 100 || item > 250)
        {
            expected.push_back(item);
        }
    }
    EXPECT_EQ(trace.link.DeliveredItems(1), expected);
    EXPECT_EQ(trace.link[1].Read()[0]["restarts"], 1);
}

TEST(RlpTest, AShorterTimerHoldsForANakInTransmission)
{
    // The timer of the first NAK, whose frame has come, still runs when the second one is in transmission, which is lost.
    Events events;
    const std::array<std::set<unsigned>, 2> lost{std::set<unsigned>{0, 3}, {1}};
    std::array<unsigned, 2> sent{};
    TestLink link(events, PCS, Layer({RlpOf("rlp", 2, 1.5, 10)}), [&](int from, const AirFrame&)
                  { return Fate{.isLost = lost[from].contains(sent[from]++)}; });
    link.Send(0, 1, 250);
    link.Send(0, 2, 250);
    events.RunUntil(500 * MILLISECOND);
    link.Send(0, 3, 250);
    link.Send(0, 4, 250);
    events.RunUntil(500 * MILLISECOND + 2 * PCS.TimeOf(252) + PCS.delay);
    link[1].Set(Layer({RlpOf("rlp", 2, 0.2, 10)}));
    events.RunUntil(1000 * MILLISECOND);
    EXPECT_EQ(link.Departures(1).size(), 3U);
    EXPECT_EQ(link.DeliveredItems(1), (std::vector<std::uint64_t>{1, 2, 3, 4}));
}

TEST(RlpTest, TheTimerFactorHoldsForTimersThatRun)
{
    for (const double factor : {1.0, 2.0})
    {
        Events events;
        auto settings = Layer({RlpOf("rlp", 2, 0.3, 10)});
        TestLink link(events, PCS, settings, [](int from, const AirFrame& frame)
                      { return Fate{.isLost = from == 0 && frame.sequence == 0}; });
        link.Send(0, 1, 250);
        link.Send(0, 2, 250);
        events.RunUntil(300 * MILLISECOND); // the first NAK departed at 113.25 ms
        settings["timer_factor"] = factor;
        link[1].Set(settings);
        events.RunUntil(5 * SECOND);
        const auto& naks = link.Departures(1);
        ASSERT_EQ(naks.size(), 2U);
        EXPECT_EQ(naks[1].ends - naks[0].ends, static_cast<std::int64_t>(300 * MILLISECOND * factor) + PCS.TimeOf(2));
    }
}
