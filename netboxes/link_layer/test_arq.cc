// SPDX-License-Identifier: GPL-2.0-or-later
// Go-Back-N and Selective Repeat with scripted losses, and their throughput: section 4.2.1.
#include "test_link.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <set>
#include <utility>

using namespace netboxit::multiservice;
using namespace netboxit::multiservice::testing;

namespace
{

using Numbers = std::vector<unsigned>;

/// The nth data frames of the base station that are lost, from 0, of all that it sends.
using Losses = std::set<unsigned>;

/// Packets go one behind the other from the base station to the mobile.
struct Script
{
    /// `interval`: ns from packet to packet.
    Script(const Json& scheme, unsigned packets, Losses lost, std::int64_t end = 10 * SECOND, std::int64_t interval = 0)
        : link(events, PCS, Layer({scheme}), [this, lost](int from, const AirFrame& frame)
               { return Fate{.isLost = from == 0 && frame.type == FrameType::Data && lost.contains(m_sent++)}; })
    {
        for (unsigned packet = 1; packet <= packets; ++packet)
        {
            link.Send(0, packet, 250);
            events.RunUntil(events.Now() + interval);
        }
        events.RunUntil(end);
    }

    /// Sequence numbers of the mobile's NAKs.
    Numbers Naks() const
    {
        return Of(1, FrameType::Nak);
    }

    /// Sequence numbers of the base station's data frames.
    Numbers Data() const
    {
        return Of(0, FrameType::Data);
    }

    Numbers Of(int end, FrameType type) const
    {
        Numbers numbers;
        for (const auto& departure : link.Departures(end))
        {
            if (departure.type == type)
            {
                numbers.push_back(departure.sequence);
            }
        }
        return numbers;
    }

    Events events;
    TestLink link;

  private:
    unsigned m_sent{0};
};

std::vector<std::uint64_t> UpTo(std::uint64_t last)
{
    std::vector<std::uint64_t> items(last);
    std::iota(items.begin(), items.end(), 1);
    return items;
}

/// Of ../multiservice/profiles.py, for PCS.
Json Pcs(const char* scheme, unsigned window = 127)
{
    return Arq(scheme, 1.112, 0.031625, window);
}

} // namespace

TEST(GoBackNTest, ATimeoutSendsEverythingOutstandingAgain)
{
    Script script(Pcs("go-back-n"), 5, {1});
    EXPECT_EQ(script.Data(), (Numbers{0, 1, 2, 3, 4, 1, 2, 3, 4}));
    EXPECT_EQ(script.link.DeliveredItems(1), UpTo(5));
    EXPECT_EQ(script.link[0].StatisticsOf(0).timeouts, 1U);
    EXPECT_EQ(script.link[0].StatisticsOf(0).retransmissions, 4U);
}

TEST(GoBackNTest, AFullWindowGoesBackAtOnce)
{
    // What has not been sent yet does not go before the frame that is missing.
    Script script(Arq("go-back-n", 0.2, 0.031625, 100), 100, {1}, 60 * SECOND);
    EXPECT_EQ(script.link.DeliveredItems(1), UpTo(100));
    EXPECT_LT(script.link[0].StatisticsOf(0).retransmissions, 12U); // 200 ms and a round trip of 31.6 ms each
    EXPECT_EQ(script.link[0].StatisticsOf(0).timeouts, 1U);
}

TEST(GoBackNTest, TheTimerCountsFromTheDepartureOfTheOldestFrame)
{
    // 100 ms apart, and frame 3 is lost: what is acknowledged meanwhile puts nothing off.
    Script script(Pcs("go-back-n"), 20, {3}, 20 * SECOND, 100 * MILLISECOND);
    const auto departures = script.link.Departures(0);
    const auto again = std::find_if(departures.begin() + 4, departures.end(), [](const auto& one) { return one.sequence == 3; });
    ASSERT_NE(again, departures.end());
    const auto later = static_cast<double>(again->ends - departures[3].ends) / SECOND;
    EXPECT_GE(later, 1.112 + 0.0316); // the timer, and the frame itself
    EXPECT_LE(later, 1.112 + 2 * 0.0317); // behind another one
    EXPECT_EQ(script.link.DeliveredItems(1), UpTo(20));
}

TEST(GoBackNTest, AcknowledgementsTravelWithData)
{
    Events events;
    TestLink link(events, PCS, Layer({Pcs("go-back-n")}));
    for (unsigned packet = 1; packet <= 20; ++packet)
    {
        link.Send(0, packet, 250);
        link.Send(1, 100 + packet, 250);
        events.RunUntil(events.Now() + 31 * MILLISECOND); // before an acknowledgement goes by itself
    }
    events.RunUntil(10 * SECOND);
    // The last frames of each end have no others to travel with.
    for (const int end : {0, 1})
    {
        EXPECT_LE(link[end].StatisticsOf(0).sentControl, 2U);
        EXPECT_EQ(link[end].StatisticsOf(0).retransmissions, 0U);
    }
}

TEST(SelectiveRepeatTest, OneNakForEachPositionOfTheWindow)
{
    // Frames 1 and 3 are lost. 2 shows that 1 is missing; 4 comes at the same position. Frame 1 again moves the window to 3,
    // and nothing that comes later shows that 3 is missing: its timer does, and that of 4 expires before an acknowledgement
    // comes.
    Script script(Pcs("sr"), 5, {1, 3});
    EXPECT_EQ(script.Naks(), (Numbers{1}));
    EXPECT_EQ(script.Data(), (Numbers{0, 1, 2, 3, 4, 1, 3, 4}));
    EXPECT_EQ(script.link.DeliveredItems(1), UpTo(5));
    EXPECT_EQ(script.link[0].StatisticsOf(0).timeouts, 2U);
}

TEST(SelectiveRepeatTest, ANewPositionHasItsOwnNak)
{
    // Frame 1 is lost, and the sixteenth that departs: that is frame 14, as 1 has been repeated by then.
    Script script(Pcs("sr"), 20, {1, 15}, 10 * SECOND, 35 * MILLISECOND);
    EXPECT_EQ(script.Naks(), (Numbers{1, 14}));
    EXPECT_EQ(script.link[0].StatisticsOf(0).timeouts, 0U);
}

TEST(SelectiveRepeatTest, EachFrameHasATimeOfItsOwn)
{
    // 1 and 3 are lost; 1 is repeated before the timer of any has expired, which acknowledges 2. 3 and 4 are repeated when their
    // own times are over, whatever happens to those before them.
    Script script(Pcs("sr"), 5, {1, 3});
    const auto& departures = script.link.Departures(0);
    ASSERT_EQ(script.Data(), (Numbers{0, 1, 2, 3, 4, 1, 3, 4}));
    for (const unsigned number : {3U, 4U})
    {
        EXPECT_EQ(departures[number + 3].ends - departures[number].ends, 1112 * MILLISECOND + PCS.TimeOf(253));
    }
}

TEST(SelectiveRepeatTest, AFrameThatWaitsIsNotQueuedAgain)
{
    for (const char* const scheme : {"sr", "sr-m1", "sr-m2"})
    {
        Events events;
        unsigned sent = 0;
        // Each NAK comes twice, and the retransmission waits behind what was sent meanwhile.
        TestLink link(events, PCS, Layer({Pcs(scheme)}), [&](int from, const AirFrame& frame)
                      { return Fate{.isLost = from == 0 && sent++ == 1, .isRepeated = frame.type == FrameType::Nak}; });
        for (unsigned packet = 1; packet <= 20; ++packet)
        {
            link.Send(0, packet, 250);
        }
        events.RunUntil(10 * SECOND);
        EXPECT_EQ(link[0].StatisticsOf(0).retransmissions, 1U) << scheme;
        EXPECT_EQ(link.DeliveredItems(1), UpTo(20)) << scheme;
    }
}

TEST(SelectiveRepeatTest, FreshAcknowledgementsDoNotWaitBehindDataOfTheirOwnService)
{
    // The mobile has 100 frames to send when the first of 20 comes to it. What is queued then departs after three times the timer.
    for (const char* const scheme : {"sr", "sr-m1", "sr-m2"})
    {
        for (const bool isFresh : {false, true})
        {
            auto settings = Pcs(scheme);
            settings["fresh_acks"] = isFresh;
            Events events;
            TestLink link(events, PCS, Layer({settings}));
            for (unsigned packet = 1; packet <= 100; ++packet)
            {
                link.Send(1, 1000 + packet, 250);
            }
            for (unsigned packet = 1; packet <= 20; ++packet)
            {
                link.Send(0, packet, 250);
            }
            events.RunUntil(60 * SECOND);
            EXPECT_EQ(link[0].StatisticsOf(0).timeouts == 0, isFresh) << scheme;
            EXPECT_EQ(link[1].StatisticsOf(0).duplicates == 0, isFresh) << scheme;
            EXPECT_EQ(link.DeliveredItems(1), UpTo(20)) << scheme;
            EXPECT_EQ(link.Delivered(0).size(), 100U) << scheme;
        }
    }
}

TEST(SelectiveRepeatTest, AShorterTimerHoldsForAFrameInTransmission)
{
    Events events;
    bool isLost = false;
    TestLink link(events, WLAN, Layer({Arq("sr", 1, 0.001)}), [&](int, const AirFrame&) { return Fate{.isLost = isLost}; });
    link.Send(0, 1, 100);
    events.RunUntil(100 * MILLISECOND);
    isLost = true;
    link.Send(0, 2, 100);
    for (const int end : {0, 1})
    {
        link[end].Set(Layer({Arq("sr", 0.02, 0.001)}));
    }
    events.RunUntil(101 * MILLISECOND);
    isLost = false;
    events.RunUntil(130 * MILLISECOND);
    EXPECT_EQ(link.DeliveredItems(1), (std::vector<std::uint64_t>{1, 2}));
}

TEST(SelectiveRepeatTest, AnOldFrameBehindFourOthersIsNotTakenForANewOne)
{
    // 16 numbers, six more than two windows. The first acknowledgement is lost; what the timer repeats then comes behind the
    // frames 5 to 8, and has the number of the frame 16.
    Events events;
    bool hasLostAcknowledgement = false;
    TestLink link(events, WLAN, Layer({Arq("sr", 0.012, 0.001, 5, 4)}),
                  [&](int from, const AirFrame& frame)
                  {
                      const bool isLost = from == 1 && !std::exchange(hasLostAcknowledgement, true);
                      return Fate{.isLost = isLost, .later = frame.isRetransmission ? 8'500'000 : 0};
                  });
    std::uint64_t item = 0;
    const auto send = [&](std::int64_t at, unsigned packets)
    {
        events.RunUntil(at * MILLISECOND);
        for (; packets > 0; --packets)
        {
            link.Send(0, ++item, 100);
        }
    };
    send(0, 1);
    send(10, 4);
    send(19, 4);
    for (const std::int64_t at : {60, 90, 120})
    {
        send(at, 5);
    }
    events.RunUntil(SECOND);
    std::vector<std::uint64_t> all(item);
    std::iota(all.begin(), all.end(), 1);
    EXPECT_EQ(link.DeliveredItems(1), all);
    EXPECT_EQ(link[0].StatisticsOf(0).retransmissions, 1U);
}

TEST(SelectiveRepeatTest, ANakAcknowledgesEverythingBeforeIt)
{
    // No acknowledgement goes: the delay is longer than the test. The NAK of frame 3 empties the window of three frames.
    auto scheme = Pcs("sr", 4);
    scheme["ack_delay"] = 5;
    Script script(scheme, 4, {}, SECOND);
    EXPECT_EQ(script.link[0].Read()[0]["outstanding"], 4);

    Script named(Arq("sr", 1.112, 5, 4), 5, {3}, SECOND); // the fifth finds the window full
    EXPECT_EQ(named.link[0].Read()[0]["outstanding"], 4);
    Script beyond(Arq("sr", 1.112, 5, 5), 5, {3}, 300 * MILLISECOND);
    EXPECT_EQ(beyond.Naks(), (Numbers{3}));
    EXPECT_EQ(beyond.link[0].Read()[0]["outstanding"], 2);
}

TEST(SelectiveRepeatTest, ALostRetransmissionWaitsForItsTimer)
{
    Script script(Pcs("sr"), 4, {1, 4});
    EXPECT_EQ(script.Naks(), (Numbers{1}));
    // 2 and 3 left before 1 did the second time. They have arrived, but nothing could say so.
    EXPECT_EQ(script.Data(), (Numbers{0, 1, 2, 3, 1, 2, 3, 1}));
    EXPECT_EQ(script.link[0].StatisticsOf(0).timeouts, 3U);
    EXPECT_EQ(script.link.DeliveredItems(1), UpTo(4));
    // The timer ran from the end of the retransmission.
    const auto& departures = script.link.Departures(0);
    EXPECT_EQ(departures[7].ends - departures[4].ends, 1112 * MILLISECOND + PCS.TimeOf(253));
}

TEST(SelectiveRepeatM1Test, EachHoleOnceInAscendingOrder)
{
    Script script(Pcs("sr-m1"), 8, {1, 2, 5});
    EXPECT_EQ(script.Naks(), (Numbers{1, 2, 5}));
    EXPECT_EQ(script.Data(), (Numbers{0, 1, 2, 3, 4, 5, 6, 7, 1, 2, 5}));
    EXPECT_EQ(script.link.DeliveredItems(1), UpTo(8));
    EXPECT_EQ(script.link[0].StatisticsOf(0).timeouts, 0U);
}

TEST(SelectiveRepeatM1Test, ANakAcknowledgesNothing)
{
    Script script(Arq("sr-m1", 1.112, 5, 5), 5, {3}, 300 * MILLISECOND);
    EXPECT_EQ(script.Naks(), (Numbers{3}));
    EXPECT_EQ(script.link[0].Read()[0]["outstanding"], 5);
}

TEST(SelectiveRepeatM1Test, ALostRetransmissionWaitsForItsTimer)
{
    Script script(Pcs("sr-m1"), 8, {1, 2, 8});
    EXPECT_EQ(script.Naks(), (Numbers{1, 2}));
    // 3 to 7 have left before 1 did the second time; 2 has been acknowledged by nothing, either.
    EXPECT_EQ(script.Data(), (Numbers{0, 1, 2, 3, 4, 5, 6, 7, 1, 2, 3, 4, 5, 6, 7, 1, 2}));
    EXPECT_EQ(script.link[0].StatisticsOf(0).timeouts, 7U);
    EXPECT_EQ(script.link.DeliveredItems(1), UpTo(8));
}

TEST(SelectiveRepeatM2Test, ALaterRetransmissionShowsThatAnEarlierOneWasLost)
{
    // 1, 2 and 4 are lost, and the retransmission of 1, too: that of 2 has it named again, and that of 4 does not, as 1 has one
    // NAK more by then.
    Script script(Pcs("sr-m2"), 8, {1, 2, 4, 8});
    EXPECT_EQ(script.Naks(), (Numbers{1, 2, 4, 1}));
    EXPECT_EQ(script.Data(), (Numbers{0, 1, 2, 3, 4, 5, 6, 7, 1, 2, 4, 1}));
    EXPECT_EQ(script.link[0].StatisticsOf(0).timeouts, 0U);
    EXPECT_EQ(script.link.DeliveredItems(1), UpTo(8));
}

TEST(SelectiveRepeatM2Test, EarlierFramesAreNamedAgainInAscendingOrder)
{
    // Of four retransmissions only the last one comes.
    Script script(Pcs("sr-m2"), 8, {1, 2, 3, 5, 8, 9, 10});
    EXPECT_EQ(script.Naks(), (Numbers{1, 2, 3, 5, 1, 2, 3}));
    EXPECT_EQ(script.link.DeliveredItems(1), UpTo(8));
}

TEST(SelectiveRepeatTest, NothingIsLostButByAFullWindow)
{
    for (const char* const scheme : {"go-back-n", "sr", "sr-m1", "sr-m2"})
    {
        SCOPED_TRACE(scheme);
        Script script(Pcs(scheme, 10), 25, {0, 3, 4, 9, 12});
        const auto& sender = script.link[0].StatisticsOf(0);
        EXPECT_EQ(sender.offeredPackets, 25U);
        EXPECT_EQ(sender.dropped[static_cast<std::size_t>(Drop::WindowFull)], 15U);
        EXPECT_EQ(script.link.DeliveredItems(1), UpTo(10));
        for (std::uint64_t item = 1; item <= 25; ++item)
        {
            ASSERT_NE(script.link.Settled(item), nullptr);
            EXPECT_EQ(script.link.Settled(item)->isDelivered, item <= 10);
            EXPECT_TRUE(item <= 10 || script.link.Settled(item)->reason == Drop::WindowFull);
        }
    }
}

namespace
{

/// Packets a second that arrive where there is always one to send, with independent losses of data.
double Throughput(const Json& scheme, double loss, std::int64_t duration)
{
    Events events;
    std::mt19937 random(7);
    std::uniform_real_distribution<double> uniform;
    TestLink link(events, WLAN, Layer({scheme}), [&](int, const AirFrame& frame)
                  { return Fate{.isLost = frame.type == FrameType::Data && uniform(random) < loss}; });
    std::uint64_t item = 0;
    std::function<void()> fill = [&]
    {
        if (link[0].QueuedBytes() < 1000)
        {
            link.Send(0, ++item, 1000); // dropped where the window is full
        }
        events.At(events.Now() + WLAN.TimeOf(500), fill);
    };
    link.keepsDepartures = false;
    fill();
    events.RunUntil(duration);
    return static_cast<double>(link.Delivered(1).size()) / (static_cast<double>(duration) / 1e9);
}

const double FRAME_S = 8 * 1003 / 2e6; ///< of WLAN with 3 bytes of header

} // namespace

TEST(ArqThroughputTest, SelectiveRepeatSendsEachFrameOneByOneMinusPTimes)
{
    // The closed form: (1 - p) of the link's frames, where neither the window nor a timer matters.
    for (const double loss : {0.01, 0.05, 0.1})
    {
        const auto ideal = (1 - loss) / FRAME_S;
        EXPECT_NEAR(Throughput(Arq("sr-m2", 30, FRAME_S, 8192, 14), loss, 200 * SECOND) / ideal, 1, 0.005) << loss;
    }
}

TEST(ArqThroughputTest, GoBackNLosesATimeoutForEachLoss)
{
    // A loss costs the time until the frame begins again, in which nothing that is sent counts: its timer restarts when the
    // acknowledgement of the frame before comes, which waits for half of its delay on average; at the timeout a frame is in
    // transmission, and another one waits. Where the retransmission is lost, too, the timer runs from its departure.
    constexpr double TIMER = 0.102;
    constexpr double DELAY = 0.003;
    for (const double loss : {0.01, 0.02, 0.05})
    {
        const auto again = TIMER + 2 * FRAME_S;
        const auto first = again + 2 * DELAY;
        const auto time = FRAME_S + loss * first + loss * loss / (1 - loss) * (FRAME_S + again);
        EXPECT_NEAR(Throughput(Arq("go-back-n", TIMER, FRAME_S), loss, 400 * SECOND) * time, 1, 0.05) << loss;
    }
}
