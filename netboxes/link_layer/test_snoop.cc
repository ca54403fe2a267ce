// SPDX-License-Identifier: GPL-2.0-or-later
// Berkeley Snoop: section 4.2.3. Segments and acknowledgements are scripted; a receiver that acknowledges each segment at once
// makes the rest.
#include "test_link.h"

#include "test_frames.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

using namespace netboxit::multiservice;
using namespace netboxit::multiservice::testing;
using netboxit::stages::testing::Build;
using netboxit::stages::testing::Frame;
using netboxit::stages::testing::SegmentFrame;

namespace
{

constexpr std::uint32_t SEGMENT = 100;
constexpr std::uint32_t WIRED = 0x0a000001;
constexpr std::uint32_t WIRELESS = 0x0a000002;
constexpr std::uint8_t ESP = 50; ///< IANA protocol number

Json SnoopOf(unsigned connections = 10, unsigned cache = 100)
{
    return {{"scheme", "snoop"}, {"cache", cache}, {"connections", connections}, {"timer_floor", 0.1}};
}

/// A wired sender, the base station with Snoop, and a wireless receiver of TCP.
class Path
{
  public:
    /// `isLost`: the nth frame towards the wireless host, from 0.
    explicit Path(std::set<unsigned> lost, const Json& scheme = SnoopOf())
        : link(events, WLAN, Layer({scheme}), [this, lost](int from, const AirFrame&)
               { return Fate{.isLost = from == 0 && lost.contains(m_sent++)}; })
    {
        link.bytes = [this](std::uint64_t item) { return std::span<const std::uint8_t>(m_frames[item]); };
        link.onDelivery = [this](int end, const Delivery& delivery)
        { events.At(events.Now(), [this, end, item = delivery.item] { end == 1 ? Receive(item) : Acknowledged(item); }); };
    }

    void Send(SegmentFrame segment)
    {
        segment.source = WIRED;
        segment.destination = WIRELESS;
        SendFrom(0, segment);
    }

    /// Segments of one connection, numbered from 0.
    void SendData(unsigned first, unsigned count)
    {
        for (unsigned segment = first; segment < first + count; ++segment)
        {
            Send({.sequence = 1 + segment * SEGMENT, .acknowledgement = 1, .payload = SEGMENT});
        }
    }

    void SendFrom(int end, const SegmentFrame& segment)
    {
        m_frames.resize(m_frames.size() + 1);
        m_frames.back() = Build(segment);
        if (isEncrypted)
        {
            m_frames.back()[netboxit::ETHERNET_HEADER + 9] = ESP;
        }
        const auto item = m_frames.size() - 1;
        m_segments[item] = segment;
        link.Send(end, item, static_cast<std::uint32_t>(m_frames[item].size() - netboxit::ETHERNET_HEADER));
    }

    void Run()
    {
        events.RunUntil(events.Now() + 3 * SECOND);
    }

    /// Acknowledgement numbers that the wired sender sees, in segments.
    std::vector<unsigned> acknowledgements{};
    unsigned duplicatesAtReceiver{0};
    /// The hosts use IPsec: nothing on the path can read their TCP headers.
    bool isEncrypted{false};

    Events events{};
    TestLink link;

  private:
    void Receive(std::uint64_t item)
    {
        const auto& segment = m_segments[item];
        if (segment.payload == 0)
        {
            return;
        }
        const auto number = (segment.sequence - 1) / SEGMENT;
        duplicatesAtReceiver += m_received.insert(number).second ? 0 : 1;
        while (m_received.contains(m_expected))
        {
            ++m_expected;
        }
        SendFrom(1, {.source = WIRELESS, .destination = WIRED, .sourcePort = 80, .destinationPort = 40000, .sequence = 1,
                     .acknowledgement = 1 + m_expected * SEGMENT, .window = 1000});
    }

    void Acknowledged(std::uint64_t item)
    {
        acknowledgements.push_back((m_segments[item].acknowledgement - 1) / SEGMENT);
    }

    unsigned m_sent{0};
    std::vector<Frame> m_frames{Frame{}}; ///< items are from 1
    std::map<std::uint64_t, SegmentFrame> m_segments;
    std::set<unsigned> m_received;
    unsigned m_expected{0};
};

using Numbers = std::vector<unsigned>;

} // namespace

TEST(SnoopTest, WithoutLossesEverythingPasses)
{
    Path path({});
    path.SendData(0, 5);
    path.Run();
    EXPECT_EQ(path.acknowledgements, (Numbers{1, 2, 3, 4, 5}));
    const auto read = path.link[0].Read()[0];
    EXPECT_EQ(read["connections"], 1);
    EXPECT_EQ(read["cached_segments"], 0);
    EXPECT_EQ(read["unmanaged"], 0);
    EXPECT_EQ(read["retransmissions"], 0);
}

TEST(SnoopTest, ALossIsRepairedLocallyAndItsDuplicatesAreSuppressed)
{
    // Of ten segments the third is lost: seven duplicates, of which the first passes.
    Path path({2});
    path.SendData(0, 10);
    path.Run();
    EXPECT_EQ(path.acknowledgements, (Numbers{1, 2, 2, 10}));
    EXPECT_EQ(path.link[0].StatisticsOf(0).retransmissions, 1U);
    EXPECT_EQ(path.link[0].StatisticsOf(0).timeouts, 0U);
    EXPECT_EQ(path.link[0].StatisticsOf(0).dropped[static_cast<std::size_t>(Drop::Suppressed)], 6U);
    EXPECT_EQ(path.link[1].StatisticsOf(0).repaired, 1U);
    EXPECT_EQ(path.link[1].StatisticsOf(0).lost, 0U);
    EXPECT_EQ(path.duplicatesAtReceiver, 0U);
}

TEST(SnoopTest, MoreDuplicatesThanExpectedPass)
{
    // Of ten segments the third is lost twice: one duplicate passes, one has it sent again, five are expected. Of two more the
    // first passes.
    Path path({2, 10});
    path.SendData(0, 10);
    path.events.RunUntil(path.events.Now() + 40 * MILLISECOND);
    EXPECT_EQ(path.acknowledgements, (Numbers{1, 2, 2}));
    for (int duplicate = 0; duplicate < 2; ++duplicate)
    {
        path.SendFrom(1, {.source = WIRELESS, .destination = WIRED, .sourcePort = 80, .destinationPort = 40000, .sequence = 1,
                          .acknowledgement = 1 + 2 * SEGMENT, .window = 1000});
        path.events.RunUntil(path.events.Now() + 5 * MILLISECOND);
        EXPECT_EQ(path.acknowledgements, (Numbers{1, 2, 2, 2})) << duplicate;
    }
    EXPECT_EQ(path.link[0].StatisticsOf(0).retransmissions, 1U); // that of now is not the first one of the segment
}

TEST(SnoopTest, ALossWithoutDuplicatesIsRepairedByTheTimer)
{
    Path path({4}); // the last one
    path.SendData(0, 5);
    path.Run();
    EXPECT_EQ(path.acknowledgements, (Numbers{1, 2, 3, 4, 5}));
    EXPECT_EQ(path.link[0].StatisticsOf(0).timeouts, 1U);
}

TEST(SnoopTest, ItGivesUpAfterTenRetransmissions)
{
    std::set<unsigned> all;
    for (unsigned frame = 0; frame < 100; ++frame)
    {
        all.insert(frame);
    }
    Path path(all);
    path.SendData(0, 1);
    for (int time = 0; time < 20; ++time)
    {
        path.Run();
    }
    EXPECT_EQ(path.link[0].StatisticsOf(0).retransmissions, 10U); // ns-2.1b4
}

TEST(SnoopTest, ASendersRetransmissionIsNotRepairedForDuplicatesAgain)
{
    // A competing retransmission (A18): the sender repeats the third segment itself, and duplicates of what it repeats pass.
    Path path({2, 3});
    path.SendData(0, 3);
    path.SendData(2, 1); // lost again
    path.SendData(3, 5);
    path.events.RunUntil(path.events.Now() + 60 * MILLISECOND); // before the local timer
    EXPECT_EQ(path.link[0].StatisticsOf(0).retransmissions, 0U);
    EXPECT_EQ(path.acknowledgements, (Numbers{1, 2, 2, 2, 2, 2, 2}));
    path.Run();
    EXPECT_EQ(path.acknowledgements.back(), 8U); // the timer repeats it
}

TEST(SnoopTest, ADuplicateAtTheReceiverIsCounted)
{
    // A18: the sender repeats what was not lost.
    Path path({});
    path.SendData(0, 2);
    path.SendData(1, 1);
    path.Run();
    EXPECT_EQ(path.duplicatesAtReceiver, 1U);
    EXPECT_EQ(path.acknowledgements, (Numbers{1, 2, 2}));
}

TEST(SnoopTest, NewsOfTheWindowIsNoDuplicate)
{
    Path path({1});
    path.SendData(0, 2);
    path.events.RunUntil(path.events.Now() + 50 * MILLISECOND);
    for (const std::uint16_t window : {2000, 3000, 4000})
    {
        path.SendFrom(1, {.source = WIRELESS, .destination = WIRED, .sourcePort = 80, .destinationPort = 40000, .sequence = 1,
                          .acknowledgement = 1 + SEGMENT, .window = window});
    }
    path.events.RunUntil(path.events.Now() + 20 * MILLISECOND);
    EXPECT_EQ(path.acknowledgements, (Numbers{1, 1, 1, 1}));
    EXPECT_EQ(path.link[0].StatisticsOf(0).retransmissions, 0U);
}

TEST(SnoopTest, AcknowledgementsPassByteForByte)
{
    // SACK blocks too: the item that arrives is the one that was sent.
    Path path({1});
    path.SendData(0, 2);
    path.events.RunUntil(path.events.Now() + 50 * MILLISECOND);
    path.SendFrom(1, {.source = WIRELESS, .destination = WIRED, .sourcePort = 80, .destinationPort = 40000, .sequence = 1,
                      .acknowledgement = 1 + SEGMENT, .window = 1000, .options = {1, 1, 5, 10, 0, 0, 0, 201, 0, 0, 1, 45}});
    path.events.RunUntil(path.events.Now() + 20 * MILLISECOND);
    EXPECT_EQ(path.acknowledgements, (Numbers{1, 1}));
}

TEST(SnoopTest, WhatItCannotReadPassesAndIsCounted)
{
    Path path({});
    path.link.bytes = [](std::uint64_t) { return std::span<const std::uint8_t>{}; };
    path.SendData(0, 3);
    path.Run();
    EXPECT_EQ(path.link.Delivered(1).size(), 3U);
    EXPECT_EQ(path.link[0].Read()[0]["unmanaged"], 3 + 3); // and the acknowledgements
    EXPECT_EQ(path.link[0].Read()[0]["connections"], 0);
}

TEST(SnoopTest, ALossOfAnEncryptedSegmentIsNotRepaired)
{
    // A15: the same loss as in ALossIsRepairedLocallyAndItsDuplicatesAreSuppressed. All duplicates reach the sender, which has to
    // repeat the segment itself.
    Path path({2});
    path.isEncrypted = true;
    path.SendData(0, 10);
    path.Run();
    EXPECT_EQ(path.acknowledgements, (Numbers{1, 2, 2, 2, 2, 2, 2, 2, 2}));
    EXPECT_EQ(path.link[0].StatisticsOf(0).retransmissions, 0U);
    EXPECT_EQ(path.link[0].StatisticsOf(0).dropped[static_cast<std::size_t>(Drop::Suppressed)], 0U);
    const auto read = path.link[0].Read()[0];
    EXPECT_EQ(read["connections"], 0);
    EXPECT_EQ(read["cached_segments"], 0);
    EXPECT_EQ(read["unmanaged"], 10 + 9); // segments, and acknowledgements
}

TEST(SnoopTest, ItsStateGrowsWithConnectionsAndThatOfSelectiveRepeatDoesNot)
{
    // A15: the wireless host has received four segments of each connection and has not acknowledged them. Snoop keeps them all.
    // SR/M2 keeps a window of frames at most, and none when the link layer's acknowledgements have come.
    constexpr unsigned SEGMENTS = 4;
    constexpr unsigned WINDOW = 127;
    const auto send = [](Path& path, unsigned connections)
    {
        path.link.onDelivery = {};
        for (unsigned connection = 0; connection < connections; ++connection)
        {
            for (unsigned segment = 0; segment < SEGMENTS; ++segment)
            {
                path.Send({.sourcePort = static_cast<std::uint16_t>(1 + connection),
                           .sequence = 1 + segment * SEGMENT,
                           .payload = SEGMENT});
            }
        }
    };
    for (const unsigned connections : {1U, 10U, 100U})
    {
        SCOPED_TRACE(connections);
        const auto segments = SEGMENTS * connections;
        Path snoop({}, SnoopOf(100));
        send(snoop, connections);
        snoop.events.RunUntil(SECOND); // the local timer takes longer
        EXPECT_EQ(snoop.link.Delivered(1).size(), segments);
        const auto read = snoop.link[0].Read()[0];
        EXPECT_EQ(read["connections"], connections);
        EXPECT_EQ(read["cached_segments"], segments);
        EXPECT_EQ(snoop.link.Pool().Packets(), segments);

        Path selectiveRepeat({}, Arq("sr-m2", 0.05, 0.005, WINDOW));
        send(selectiveRepeat, connections);
        EXPECT_EQ(selectiveRepeat.link[0].Read()[0]["outstanding"], std::min(segments, WINDOW));
        EXPECT_EQ(selectiveRepeat.link.Pool().Packets(), std::min(segments, WINDOW));
        selectiveRepeat.events.RunUntil(SECOND); // the link layer has acknowledged them
        EXPECT_EQ(selectiveRepeat.link.Delivered(1).size(), std::min(segments, WINDOW));
        EXPECT_EQ(selectiveRepeat.link[0].Read()[0]["outstanding"], 0);
        EXPECT_EQ(selectiveRepeat.link.Pool().Packets(), 0U);
    }
}

TEST(SnoopTest, TheLongestIdleConnectionLeaves)
{
    Path path({}, SnoopOf(3, 2));
    for (std::uint16_t port = 1; port <= 5; ++port)
    {
        for (unsigned segment = 0; segment < 4; ++segment)
        {
            path.Send({.sourcePort = port, .sequence = 1 + segment * SEGMENT, .payload = SEGMENT});
        }
    }
    const auto read = path.link[0].Read()[0];
    EXPECT_EQ(read["connections"], 3);
    EXPECT_EQ(read["evicted"], 2);
    EXPECT_EQ(read["cached_segments"], 3 * 2);
}

TEST(SnoopTest, AResetForgetsTheConnection)
{
    Path path({0});
    path.Send({.sequence = 1, .payload = SEGMENT});
    EXPECT_EQ(path.link[0].Read()[0]["cached_segments"], 1);
    path.Send({.sequence = 1, .flags = "R"});
    EXPECT_EQ(path.link[0].Read()[0]["connections"], 0);
    path.Run();
    EXPECT_EQ(path.link[0].StatisticsOf(0).retransmissions, 0U);
    EXPECT_EQ(path.link.Pool().Packets(), 0U);
}

TEST(SnoopTest, LossesTowardsTheBaseStationAreNotRepaired)
{
    Events events;
    unsigned sent = 0;
    TestLink link(events, WLAN, Layer({SnoopOf()}), [&](int from, const AirFrame&)
                  { return Fate{.isLost = from == 1 && sent++ == 1}; });
    for (std::uint64_t item = 1; item <= 3; ++item)
    {
        link.Send(1, item, 100);
    }
    events.RunUntil(5 * SECOND);
    EXPECT_EQ(link.DeliveredItems(0), (std::vector<std::uint64_t>{1, 3}));
}
