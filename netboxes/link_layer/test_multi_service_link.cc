// SPDX-License-Identifier: GPL-2.0-or-later
// Both ends of the layer: section 6.2.
#include "make_service.h"
#include "test_link.h"

#include "test_frames.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <numeric>
#include <random>
#include <stdexcept>

using namespace netboxit::multiservice;
using namespace netboxit::multiservice::testing;
using netboxit::stages::testing::Build;

namespace
{

/// Of ../multiservice/profiles.py.
const Json SR_M2 = Arq("sr-m2", 1.112, 0.031625);
const Json RLP_OOS = RlpOf("rlp-oos", 1, 2.116, 0.5);

Json WithShare(Json scheme, double share)
{
    scheme["share"] = share;
    return scheme;
}

/// A scheme at both ends of a link without a layer: a queue and a transmitter is all that it has around it.
class BareLink
{
  public:
    using Channel = std::function<bool(int from, const AirFrame& frame)>;

    BareLink(Events& events, const LinkFacts& facts, const Json& scheme, Channel isLost)
        : m_events(events), m_facts(facts), m_time(events), m_isLost(std::move(isLost)), m_pool([](std::uint64_t, bool, Drop) {})
    {
        for (const int end : {0, 1})
        {
            m_ends[end] = std::make_unique<End>(*this, end);
        }
        for (const int end : {0, 1})
        {
            m_ends[end]->service = MakeService(scheme, end == 0 ? LinkEnd::Base : LinkEnd::Mobile, *m_ends[end]);
        }
    }

    void Send(int end, std::uint64_t item, std::uint32_t bytes)
    {
        m_ends[end]->service->Send(m_pool.Take(item, bytes));
    }

    const Service& operator[](int end) const
    {
        return *m_ends[end]->service;
    }

    const std::vector<Departure>& Departures(int end) const
    {
        return m_ends[end]->departures;
    }

    std::function<void(int end, const Delivery&)> onDelivery{};
    std::function<std::span<const std::uint8_t>(std::uint64_t item)> bytes{};

  private:
    struct End : ServicePort
    {
        End(BareLink& owner, int number) : link(owner), end(number)
        {
        }

        bool Emit(AirFrame frame) override
        {
            waiting.push_back(std::move(frame));
            if (waiting.size() == 1)
            {
                link.Begin(end);
            }
            return true;
        }

        void Deliver(const Packet& packet) override
        {
            link.onDelivery(end, {link.m_events.Now(), 0, packet.Item()});
            packet.MarkDelivered();
        }

        void GaveUp(std::uint16_t sequence) override
        {
            link.m_ends[1 - end]->service->PeerGaveUp(sequence);
        }

        std::span<const std::uint8_t> BytesOf(const Packet& packet) const override
        {
            return link.bytes(packet.Item());
        }

        Timebase& Time() override
        {
            return link.m_time;
        }

        const LinkFacts& Facts() const override
        {
            return link.m_facts;
        }

        BareLink& link;
        int end;
        std::deque<AirFrame> waiting{}; ///< the first one is in transmission
        std::vector<Departure> departures{};
        std::unique_ptr<Service> service{};
    };

    void Begin(int end)
    {
        m_events.At(m_events.Now() + m_facts.TimeOf(m_ends[end]->waiting.front().Bytes()), [this, end] { Depart(end); });
    }

    void Depart(int end)
    {
        auto& sender = *m_ends[end];
        const auto frame = sender.waiting.front();
        sender.departures.push_back(DepartureOf(frame, m_events.Now()));
        if (!m_isLost(end, frame))
        {
            m_onAir[end].push_back(frame);
            m_events.At(m_events.Now() + m_facts.delay, [this, end] { Arrive(end); });
        }
        sender.service->Departed(frame);
        sender.waiting.pop_front();
        if (!sender.waiting.empty())
        {
            Begin(end);
        }
    }

    void Arrive(int from)
    {
        const auto frame = std::move(m_onAir[from].front());
        m_onAir[from].pop_front();
        m_ends[1 - from]->service->Receive(frame);
    }

    Events& m_events;
    LinkFacts m_facts;
    EventTime m_time;
    Channel m_isLost;
    PacketPool m_pool;
    std::array<std::deque<AirFrame>, 2> m_onAir;
    std::array<std::unique_ptr<End>, 2> m_ends;
};

/// A TCP connection over a link. Both hosts send data, and acknowledge each segment at once. They repeat nothing: only the link
/// layer does.
template <typename Link>
class Connection
{
  public:
    Connection(Events& events, Link& link) : m_link(link)
    {
        link.bytes = [this](std::uint64_t item) { return std::span<const std::uint8_t>(m_items[item].frame); };
        link.onDelivery = [this, &events](int end, const Delivery& delivery)
        { events.At(events.Now(), [this, end, item = delivery.item] { Receive(end, item); }); };
    }

    /// A segment with so many bytes of data, or with none: a pure acknowledgement. Of a segment with data the link charges the
    /// data only (section 7.1).
    void Send(int end, std::uint32_t bytes)
    {
        auto& host = m_hosts[end];
        Item item{.sequence = host.next, .bytes = bytes};
        host.next += bytes;
        const bool fromBase = end == 0;
        item.frame = Build({.source = ADDRESSES[end],
                            .destination = ADDRESSES[1 - end],
                            .sourcePort = static_cast<std::uint16_t>(fromBase ? 40000 : 80),
                            .destinationPort = static_cast<std::uint16_t>(fromBase ? 80 : 40000),
                            .sequence = item.sequence,
                            .acknowledgement = host.expected,
                            .window = 1000,
                            .payload = bytes});
        m_items.push_back(std::move(item));
        m_link.Send(end, m_items.size() - 1, bytes > 0 ? bytes : ACKNOWLEDGEMENT);
    }

  private:
    static constexpr std::array<std::uint32_t, 2> ADDRESSES{0x0a000001, 0x0a000002};
    static constexpr std::uint32_t ACKNOWLEDGEMENT = 40;

    struct Item
    {
        std::uint32_t sequence{};
        std::uint32_t bytes{};
        netboxit::stages::testing::Frame frame{};
    };

    struct Host
    {
        std::uint32_t next{1};
        std::uint32_t expected{1};
        std::map<std::uint32_t, std::uint32_t> received{}; ///< bytes by sequence number
    };

    void Receive(int end, std::uint64_t item)
    {
        auto& host = m_hosts[end];
        if (m_items[item].bytes == 0)
        {
            return;
        }
        host.received[m_items[item].sequence] = m_items[item].bytes;
        while (host.received.contains(host.expected))
        {
            host.expected += host.received[host.expected];
        }
        Send(end, 0);
    }

    Link& m_link;
    std::vector<Item> m_items{Item{}}; ///< items are from 1
    std::array<Host, 2> m_hosts;
};

/// Traffic of both ends, from a seed.
template <typename Link>
std::array<std::vector<Departure>, 2> DeparturesOf(Events& events, Link& link)
{
    std::mt19937 random(5);
    Connection connection(events, link);
    for (int segment = 0; segment < 3000; ++segment)
    {
        connection.Send(static_cast<int>(random() % 2), 1 + static_cast<std::uint32_t>(random() % PCS.framePayload));
        events.RunUntil(events.Now() + random() % (40 * MILLISECOND));
    }
    events.RunUntil(events.Now() + 20 * SECOND);
    return {link.Departures(0), link.Departures(1)};
}

const std::vector<Json> ALL_SCHEMES{Raw(),
                                    Arq("go-back-n", 1.112, 0.031625),
                                    Arq("sr", 1.112, 0.031625),
                                    Arq("sr-m1", 1.112, 0.031625),
                                    SR_M2,
                                    RlpOf("rlp", 3, 1.108, 0.5),
                                    RLP_OOS,
                                    {{"scheme", "xor"}, {"block", 8}},
                                    {{"scheme", "xor-adaptive"}, {"block", 8}, {"inactivity", 0.13}},
                                    {{"scheme", "snoop"}, {"cache", 100}, {"connections", 10}, {"timer_floor", 0.1}}};

} // namespace

TEST(MultiServiceLinkTest, WithOneServiceItDoesWhatTheBareSchemeDoes)
{
    // A10: the same departures.
    for (const auto& scheme : ALL_SCHEMES)
    {
        SCOPED_TRACE(scheme.dump());
        std::array<std::vector<Departure>, 2> layered, bare;
        // The base station's statistics show that Snoop could read all packets, and that it had something to do.
        const auto expectSnooped = [&](const Json& read, std::uint64_t retransmissions)
        {
            if (scheme["scheme"] == "snoop")
            {
                EXPECT_EQ(read["connections"], 1);
                EXPECT_EQ(read["unmanaged"], 0);
                EXPECT_GT(retransmissions, 100U);
            }
        };
        {
            Events events;
            std::mt19937 random(9);
            TestLink link(events, PCS, Layer({scheme}), [&](int, const AirFrame&) { return Fate{.isLost = random() % 10 == 0}; });
            layered = DeparturesOf(events, link);
            expectSnooped(link[0].Read()[0], link[0].StatisticsOf(0).retransmissions);
        }
        {
            Events events;
            std::mt19937 random(9);
            BareLink link(events, PCS, scheme, [&](int, const AirFrame&) { return random() % 10 == 0; });
            bare = DeparturesOf(events, link);
            expectSnooped(link[0].Read(), link[0].Statistics().retransmissions);
        }
        ASSERT_GT(layered[0].size(), 1000U);
        EXPECT_EQ(layered[0], bare[0]);
        EXPECT_EQ(layered[1], bare[1]);
    }
}

TEST(MultiServiceLinkTest, AServiceThatDoesNotExistIsTheFirstOne)
{
    Events events;
    TestLink link(events, PCS, Layer({Raw(), SR_M2}));
    link.Send(0, 1, 100, 1);
    link.Send(0, 2, 100, 7);
    events.RunUntil(SECOND);
    ASSERT_EQ(link.Delivered(1).size(), 2U);
    EXPECT_EQ(link.Delivered(1)[0].service, 1);
    EXPECT_EQ(link.Delivered(1)[1].service, 0);
}

TEST(MultiServiceLinkTest, AFullQueueDropsWhatComes)
{
    Events events;
    auto scheme = Raw();
    scheme["queue"] = 5;
    TestLink link(events, PCS, Layer({scheme}));
    for (std::uint64_t item = 1; item <= 10; ++item)
    {
        link.Send(0, item, 250);
    }
    events.RunUntil(10 * SECOND);
    EXPECT_EQ(link.Delivered(1).size(), 6U); // one was in transmission
    EXPECT_EQ(link.Settled(10)->reason, Drop::QueueFull);
}

TEST(MultiServiceLinkTest, PacingTakesAPacketInEachNominalTime)
{
    Events events;
    auto settings = Layer({Raw()});
    settings["pacing"] = "packet";
    settings["pacing_overhead"] = 1;
    TestLink link(events, PCS, settings);
    std::vector<std::int64_t> opened;
    link.onOpened = [&](int)
    {
        EXPECT_TRUE(link[0].IsOpen());
        opened.push_back(events.Now());
    };
    EXPECT_TRUE(link[0].IsOpen());
    link.Send(0, 1, 250);
    EXPECT_FALSE(link[0].IsOpen());
    events.RunUntil(SECOND);
    EXPECT_EQ(opened, (std::vector<std::int64_t>{PCS.TimeOf(251)}));
    EXPECT_EQ(link[0].QueuedBytes(), 0U);
}

TEST(MultiServiceLinkTest, TheTimerFactorFollowsServicesOrShares)
{
    Events events;
    auto settings = Layer({WithShare(Raw(), 0.33), WithShare(Raw(), 0.66)});
    settings["timer_factor"] = "services";
    TestLink link(events, PCS, settings);
    EXPECT_EQ(link[0].Read()[0]["timer_factor"], 2);
    EXPECT_EQ(link[0].Read()[1]["timer_factor"], 2);
    settings["timer_factor"] = "share";
    link[0].Set(settings);
    EXPECT_NEAR(link[0].Read()[0]["timer_factor"].get<double>(), 3, 1e-12); // as the source has it for Cellular
    EXPECT_NEAR(link[0].Read()[1]["timer_factor"].get<double>(), 1.5, 1e-12);
}

TEST(MultiServiceLinkTest, MeasuredSharesFollowWhatIsOffered)
{
    Events events;
    auto settings = Layer({Raw(), Raw(), Raw()});
    settings["shares"] = "measured";
    settings["measure_interval"] = 1.0;
    TestLink link(events, PCS, settings);
    const auto offer = [&](unsigned packets, std::initializer_list<std::uint32_t> bytes)
    {
        static std::uint64_t item = 0;
        for (unsigned packet = 0; packet < packets; ++packet)
        {
            ServiceId service = 0;
            for (const auto length : bytes)
            {
                length > 0 ? link.Send(0, ++item, length, service) : void();
                ++service;
            }
        }
        events.RunUntil(events.Now() + SECOND);
    };
    const auto share = [&](int service) { return link[0].Read()[service]["share"].get<double>(); };
    offer(9, {100, 50, 0}); // too few packets for a measurement
    EXPECT_EQ(share(0), 1);
    offer(11, {100, 50, 0});
    EXPECT_NEAR(share(0), 2.0 / 3, 1e-12);
    EXPECT_NEAR(share(1), 1.0 / 3, 1e-12);
    EXPECT_EQ(share(2), ShareMeter::FLOOR);
    offer(20, {0, 0, 100});
    EXPECT_NEAR(share(0), (1 - ShareMeter::LATEST) * 2 / 3, 1e-12);
    EXPECT_NEAR(share(2), ShareMeter::LATEST, 1e-12);
}

TEST(MultiServiceLinkTest, EffectiveGoodputPredictsThroughput)
{
    // A16: with a backlog, B·r·e. Cellular's shares of T7.1, 5 % of the frames are lost.
    Events events;
    std::mt19937 random(11);
    std::uniform_real_distribution<double> uniform;
    auto settings = Layer({WithShare(Arq("sr-m2", 0.907, 0.03), 0.33), WithShare(RlpOf("rlp-oos", 1, 0.662, 0.5), 0.66)});
    settings["timer_factor"] = "services";
    TestLink link(events, CELLULAR, settings, [&](int, const AirFrame&) { return Fate{.isLost = uniform(random) < 0.05}; });
    link.keepsDepartures = false;
    std::uint64_t item = 0;
    std::array<std::uint64_t, 2> bytes{};
    std::array<double, 2> effective{};
    unsigned intervals = 0;
    link.onDelivery = [&](int, const Delivery& delivery) { bytes[delivery.service] += 50; };
    constexpr unsigned SECONDS = 3000;
    for (unsigned second = 0; second < SECONDS; ++second)
    {
        for (int part = 0; part < 10; ++part)
        {
            for (const ServiceId service : {0, 1})
            {
                while (link[0].Read()[service]["waiting_frames"] < 20)
                {
                    const auto dropped = link[0].StatisticsOf(service).dropped[static_cast<std::size_t>(Drop::WindowFull)];
                    link.Send(0, ++item, 50, service);
                    if (dropped != link[0].StatisticsOf(service).dropped[static_cast<std::size_t>(Drop::WindowFull)])
                    {
                        break;
                    }
                }
            }
            events.RunUntil(events.Now() + SECOND / 10);
        }
        const auto read = link[0].Read(&link[1]);
        if (!read[0]["effective_goodput"].is_null())
        {
            ++intervals;
            for (const int service : {0, 1})
            {
                const auto e = read[service]["effective_goodput"].get<double>();
                const auto loss = link[1].MetricsOf(service).Loss().value_or(0);
                EXPECT_NEAR(e, read[service]["goodput"].get<double>() * (1 - loss), 1e-12);
                effective[service] += e;
            }
        }
    }
    const std::array<double, 2> share{1.0 / 3, 2.0 / 3};
    for (const int service : {0, 1})
    {
        const auto predicted = CELLULAR.rate * share[service] * effective[service] / intervals;
        EXPECT_NEAR(8.0 * static_cast<double>(bytes[service]) / SECONDS / predicted, 1, 0.05) << service;
    }
}

TEST(MultiServiceLinkTest, DelayIsEstimatedWithoutTimeStamps)
{
    Events events;
    bool isFirst = true;
    TestLink link(events, PCS, Layer({RlpOf("rlp-oos", 1, 0.3, 10)}),
                  [&](int from, const AirFrame&) { return Fate{.isLost = from == 0 && std::exchange(isFirst, false)}; });
    link.Send(0, 1, 250);
    link.Send(0, 2, 250);
    events.RunUntil(SECOND);
    // One way each, and a round trip for the one that was repeated: 50 and 131.25 ms.
    const auto oneWay = 0.05 + 8 * 250 / 64e3;
    EXPECT_NEAR(*link[1].MetricsOf(0).Delay(), oneWay + (2 * 0.05 + 8 * 250 / 64e3) / 2, 1e-9);
    EXPECT_EQ(link[1].StatisticsOf(0).repaired, 1U);
}

TEST(MultiServiceLinkTest, CountsBeginAnew)
{
    Events events;
    TestLink link(events, PCS, Layer({Raw()}));
    link.Send(0, 1, 250);
    events.RunUntil(2 * SECOND);
    EXPECT_TRUE(link[1].MetricsOf(0).Delay());
    for (const int end : {0, 1})
    {
        link[end].ResetStatistics();
        const auto read = link[end].Read()[0];
        for (const char* const key : {"offered_packets", "sent_bytes", "delivered"})
        {
            EXPECT_EQ(read[key], 0) << key;
        }
        EXPECT_TRUE(read["delay"].is_null());
    }
}

TEST(MultiServiceLinkTest, FramesUnderWayPassALiveChangeOfScheme)
{
    // From each scheme to each other one, with a full window and with losses before: nothing that an ARQ took is lost, nothing
    // comes twice.
    for (const auto& before : ALL_SCHEMES)
    {
        for (const auto& after : ALL_SCHEMES)
        {
            SCOPED_TRACE(before.dump() + " -> " + after.dump());
            Events events;
            std::mt19937 random(13);
            bool isLossy = true;
            std::vector<bool> isLost(300);
            TestLink link(events, PCS, Layer({before}), [&](int, const AirFrame& frame)
                          {
                              const bool lost = isLossy && random() % 10 == 0;
                              if (frame.payload && frame.type == FrameType::Data && lost)
                              {
                                  isLost[frame.payload.Item()] = true;
                              }
                              return Fate{.isLost = lost};
                          });
            std::uint64_t item = 0;
            for (; item < 127; ++item)
            {
                link.Send(0, item + 1, 250);
            }
            events.RunUntil(events.Now() + 1500 * MILLISECOND);
            for (; item < 200; ++item)
            {
                link.Send(0, item + 1, 250);
            }
            isLossy = false;
            link.ChangeSchemes(Layer({after}));
            events.RunUntil(events.Now() + 12 * SECOND);
            for (; item < 240; ++item)
            {
                link.Send(0, item + 1, 250);
            }
            events.RunUntil(events.Now() + 10 * SECOND);

            auto delivered = link.DeliveredItems(1);
            const auto& scheme = before["scheme"];
            const bool isArq = before.contains("window");
            const bool inOrder = scheme != "rlp-oos" && scheme != "xor" && scheme != "xor-adaptive" && scheme != after["scheme"];
            EXPECT_TRUE(!inOrder || std::ranges::is_sorted(delivered));
            std::ranges::sort(delivered);
            EXPECT_EQ(std::ranges::adjacent_find(delivered), delivered.end());
            for (std::uint64_t sent = 1; sent <= 240; ++sent)
            {
                const bool hasArrived = std::ranges::binary_search(delivered, sent);
                const auto* const settled = link.Settled(sent);
                const bool isRefused = settled != nullptr && !settled->isDelivered &&
                                       (settled->reason == Drop::WindowFull || settled->reason == Drop::QueueFull);
                // What was lost before the change is repaired by ARQs with acknowledgements only, or if the receiver has not
                // given it up.
                const bool mayMiss = isRefused || (!isArq && isLost[sent]);
                EXPECT_TRUE(hasArrived || mayMiss) << sent;
            }
        }
    }
}

TEST(MultiServiceLinkTest, PacketsOfAFullWindowGoThroughASmallerOne)
{
    Events events;
    TestLink link(events, PCS, Layer({SR_M2}));
    for (std::uint64_t item = 1; item <= 100; ++item)
    {
        link.Send(0, item, 250);
    }
    events.RunUntil(500 * MILLISECOND);
    link.ChangeSchemes(Layer({Arq("go-back-n", 1.112, 0.031625, 4, 3)}));
    link.Send(0, 101, 250); // behind all of them there is no room
    events.RunUntil(30 * SECOND);
    std::vector<std::uint64_t> expected(100);
    std::iota(expected.begin(), expected.end(), 1);
    EXPECT_EQ(link.DeliveredItems(1), expected);
    EXPECT_EQ(link.Settled(101)->reason, Drop::WindowFull);
    EXPECT_EQ(link.Pool().Packets(), 0U);
}

TEST(MultiServiceLinkTest, PacketsOfAFormerServiceGoBeforeLaterOnes)
{
    std::vector<std::uint64_t> all(9);
    std::iota(all.begin(), all.end(), 1);
    const auto changed = [](TestLink& link, const Json& settings)
    {
        for (std::uint64_t packet = 1; packet <= 8; ++packet)
        {
            link.Send(0, packet, 100);
        }
        link.ChangeSchemes(settings);
    };
    {
        // Where a window grows in which some of them had no room.
        Events events;
        TestLink link(events, WLAN, Layer({Arq("sr", 0.05, 0.005)}));
        changed(link, Layer({Arq("go-back-n", 0.05, 0.005, 2)}));
        for (const int end : {0, 1})
        {
            link[end].Set(Layer({Arq("go-back-n", 0.05, 0.005, 16)}));
        }
        link.Send(0, 9, 100);
        events.RunUntil(SECOND);
        EXPECT_EQ(link.DeliveredItems(1), all);
    }
    {
        // Where a queue in which some of them had no room has just given a frame.
        Events events;
        TestLink link(events, WLAN, Layer({Arq("sr", 0.05, 0.005)}));
        auto shortQueue = Raw();
        shortQueue["queue"] = 3;
        changed(link, Layer({shortQueue}));
        events.RunUntil(WLAN.TimeOf(103));
        link.Send(0, 9, 100);
        events.RunUntil(SECOND);
        all.pop_back(); // it found no room
        EXPECT_EQ(link.DeliveredItems(1), all);
    }
}

TEST(MultiServiceLinkTest, AFrameOfTheFormerServiceDepartsForItsCountsOnly)
{
    Events events;
    TestLink link(events, PCS, Layer({SR_M2}));
    link.Send(0, 1, 250);
    link.ChangeSchemes(Layer({RLP_OOS})); // while the frame is in transmission
    events.RunUntil(5 * SECOND);
    EXPECT_EQ(link[0].StatisticsOf(0).sentData, 2U);
    for (std::uint64_t item = 2; item <= 10; ++item)
    {
        link.Send(0, item, 250);
    }
    events.RunUntil(10 * SECOND);
    EXPECT_EQ(link.Delivered(1).size(), 10U);
}

TEST(MultiServiceLinkTest, ServicesCanBeAddedAndRemoved)
{
    Events events;
    TestLink link(events, PCS, Layer({Raw()}));
    link.Send(0, 1, 250);
    link.ChangeSchemes(Layer({Raw(), SR_M2}));
    link.Send(0, 2, 250, 1);
    link.Send(0, 3, 250, 1);
    events.RunUntil(60 * MILLISECOND);
    link.ChangeSchemes(Layer({Raw()}));
    events.RunUntil(5 * SECOND);
    EXPECT_EQ(link.DeliveredItems(1), (std::vector<std::uint64_t>{1, 2, 3}));
    EXPECT_EQ(link.Delivered(1)[2].service, 0);
    EXPECT_EQ(link.Pool().Packets(), 0U);
}

TEST(MultiServiceLinkTest, AWindowMayShrinkAndGrowWhileItIsFull)
{
    for (const char* const scheme : {"go-back-n", "sr", "sr-m1", "sr-m2"})
    {
        SCOPED_TRACE(scheme);
        Events events;
        std::mt19937 random(17);
        TestLink link(events, PCS, Layer({Arq(scheme, 1.112, 0.031625, 100)}),
                      [&](int, const AirFrame&) { return Fate{.isLost = random() % 10 == 0}; });
        std::uint64_t item = 0;
        for (; item < 100; ++item)
        {
            link.Send(0, item + 1, 250);
        }
        const auto set = [&](unsigned window, double timer)
        {
            for (const int end : {0, 1})
            {
                link[end].Set(Layer({Arq(scheme, timer, 0.02, window)}));
            }
        };
        events.RunUntil(SECOND);
        set(3, 0.5);
        link.Send(0, 999, 250);
        EXPECT_EQ(link.Settled(999)->reason, Drop::WindowFull);
        events.RunUntil(600 * SECOND);
        set(128, 0.7);
        for (; item < 228; ++item)
        {
            link.Send(0, item + 1, 250);
        }
        events.RunUntil(1200 * SECOND);
        std::vector<std::uint64_t> expected(228);
        std::iota(expected.begin(), expected.end(), 1);
        EXPECT_EQ(link.DeliveredItems(1), expected);
    }
}

TEST(MultiServiceLinkTest, ALongerRingTakesOverTheShorterOne)
{
    Events events;
    unsigned sent = 0;
    TestLink link(events, PCS, Layer({RlpOf("rlp", 1, 0.3, 10, 16)}),
                  [&](int from, const AirFrame&) { return Fate{.isLost = from == 0 && sent++ == 3}; });
    for (std::uint64_t item = 1; item <= 8; ++item)
    {
        link.Send(0, item, 250);
    }
    events.RunUntil(200 * MILLISECOND); // the fourth is missing
    for (const int end : {0, 1})
    {
        link[end].Set(Layer({RlpOf("rlp", 1, 0.3, 10, 100)}));
    }
    events.RunUntil(5 * SECOND);
    EXPECT_EQ(link.DeliveredItems(1), (std::vector<std::uint64_t>{1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(MultiServiceLinkTest, SetRefusesOtherSchemesAndChangesNothing)
{
    Events events;
    TestLink link(events, PCS, Layer({SR_M2}));
    EXPECT_THROW(link[0].Set(Layer({Raw()})), std::invalid_argument);
    EXPECT_THROW(link[0].Set(Layer({SR_M2, Raw()})), std::invalid_argument);
    EXPECT_THROW(MultiServiceLink::ChangeSchemes(link[0], Layer({SR_M2}), link[1], Layer({Raw()})), std::invalid_argument);
    auto settings = Layer({Arq("sr-m2", 1.112, 0.03, 64)});
    settings["smoothing"] = 2;
    EXPECT_THROW(link[0].Set(settings), std::invalid_argument);
    EXPECT_EQ(link[0].Read()[0]["window"], 127);
}
