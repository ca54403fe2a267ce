// SPDX-License-Identifier: GPL-2.0-or-later
#include "link.h"

#include "../engine/event_queue.h"

#include "ns3/data-rate.h"
#include "ns3/drop-tail-queue.h"
#include "ns3/node.h"
#include "ns3/point-to-point-channel.h"
#include "ns3/point-to-point-net-device.h"
#include "ns3/simulator.h"

#include <gtest/gtest.h>

#include <random>

using namespace netboxit;
using ns3::NanoSeconds;
using ns3::Simulator;

namespace
{

struct Arrived
{
    std::uint32_t number;
    std::int64_t time;

    bool operator==(const Arrived&) const = default;
};

void PrintTo(const Arrived& arrived, std::ostream* out)
{
    *out << arrived.number << " at " << arrived.time;
}

/// ns-3's point-to-point devices and channel, which tell frames apart by their tokens.
class Ns3Link
{
  public:
    Ns3Link(std::uint32_t queue, std::uint64_t rate, std::int64_t delay, std::vector<Arrived>& arrivals)
    {
        m_channel->SetAttribute("Delay", ns3::TimeValue(NanoSeconds(delay)));
        for (auto& device : m_devices)
        {
            device = ns3::CreateObject<ns3::PointToPointNetDevice>();
            const auto waiting = ns3::CreateObject<ns3::DropTailQueue<ns3::Packet>>();
            waiting->SetMaxSize(ns3::QueueSize(ns3::QueueSizeUnit::PACKETS, queue));
            ns3::CreateObject<ns3::Node>()->AddDevice(device);
            device->SetQueue(waiting);
            device->Attach(m_channel);
            device->SetDataRate(ns3::DataRate(rate));
            device->SetInterframeGap(ns3::DataRate(rate).CalculateBytesTxTime(12));
            device->SetReceiveCallback(
                [&arrivals](auto, ns3::Ptr<const ns3::Packet> packet, auto, const auto&)
                {
                    arrivals.push_back({ReadToken(packet)->index, Simulator::Now().GetNanoSeconds()});
                    return true;
                });
        }
    }

    bool Send(SlotId slot, std::uint32_t bytes)
    {
        constexpr std::uint32_t PPP_HEADER = 2;
        return m_devices[0]->Send(MakeToken({.slot = slot, .length = bytes - PPP_HEADER}), {}, 0x0800);
    }

  private:
    ns3::Ptr<ns3::PointToPointChannel> m_channel{ns3::CreateObject<ns3::PointToPointChannel>()};
    std::array<ns3::Ptr<ns3::PointToPointNetDevice>, 2> m_devices;
};

class LinkTest : public testing::Test
{
  protected:
    LinkTest()
    {
        Simulator::SetImplementation(queue);
    }

    ~LinkTest() override
    {
        Simulator::Destroy();
    }

    void RunAll()
    {
        while (queue->NextDue())
        {
            queue->RunNext();
        }
    }

    ns3::Ptr<EventQueue> queue = ns3::CreateObject<EventQueue>();
    std::vector<Arrived> arrivals;
};

struct Case
{
    std::uint32_t queue;
    std::uint64_t rate;
    std::int64_t delay;
};

class LinkAgainstNs3 : public LinkTest, public testing::WithParamInterface<Case>
{
};

} // namespace

TEST_P(LinkAgainstNs3, EveryFrameArrivesInTheSameNanosecondOrIsDroppedByBoth)
{
    const auto [room, rate, delay] = GetParam();
    std::vector<Arrived> expected;
    Ns3Link theirs(room, rate, delay, expected);
    Link ours(room, [this](SlotId slot, std::uint32_t) { arrivals.push_back({slot.index, Simulator::Now().GetNanoSeconds()}); });
    ours.SetRate(rate);
    ours.SetDelay(delay);
    std::mt19937 random(5);
    // Nearly as much as the link carries, in clusters: the queue is empty, in between, and full at times.
    const auto gap = 8e9 / static_cast<double>(rate) * 900;
    std::exponential_distribution<double> pause(1 / (8 * gap));
    std::geometric_distribution<int> cluster(1.0 / 8);
    std::uniform_int_distribution<std::uint32_t> length(72, 1526);
    unsigned dropped = 0;
    double time = 0;
    for (std::uint32_t number = 0; number < 5000;)
    {
        time += pause(random);
        for (auto left = cluster(random) + 1; left > 0; --left, ++number)
        {
            const auto bytes = length(random);
            Simulator::Schedule(NanoSeconds(static_cast<std::int64_t>(time)),
                                [&, number, bytes]
                                {
                                    const bool taken = theirs.Send({number, 1}, bytes);
                                    EXPECT_EQ(ours.Send({number, 1}, bytes), taken) << number;
                                    dropped += taken ? 0 : 1;
                                });
        }
    }
    RunAll();
    EXPECT_EQ(arrivals, expected);
    EXPECT_GT(expected.size(), 1000u);
    EXPECT_EQ(dropped > 0, room < 100);
    EXPECT_EQ(ours.Queued(), 0u);
}

INSTANTIATE_TEST_SUITE_P(,
                         LinkAgainstNs3,
                         testing::Values(Case{1000, 1'000'000'000, 500},
                                         Case{10, 1'000'000'000, 0},
                                         Case{10, 100'000'000, 5'000'000},
                                         Case{1, 1'000'000, 3},
                                         Case{1000, 2'345'678'901, 1'000},
                                         Case{20, 10'000'000'000, 100}));

TEST_F(LinkTest, FramesThatWaitGetTheNewRateAndDelayAndNoneOvertakes)
{
    Link link(10, [this](SlotId slot, std::uint32_t) { arrivals.push_back({slot.index, Simulator::Now().GetNanoSeconds()}); });
    link.SetDelay(10'000);
    for (std::uint32_t number = 0; number < 3; ++number)
    {
        EXPECT_TRUE(link.Send({number, 1}, 100)); // 800 ns each, and a gap of 96
    }
    EXPECT_EQ(link.Queued(), 2u);
    Simulator::Schedule(NanoSeconds(850), // in the gap after the first
                        [&]
                        {
                            link.SetRate(100'000'000);
                            link.SetDelay(0);
                            EXPECT_EQ(link.Queued(), 2u);
                        });
    RunAll();
    EXPECT_EQ(arrivals,
              (std::vector<Arrived>{{0, 10'800}, {1, 10'800}, {2, 896 + 8'000 + 960 + 8'000}}));
}

TEST_F(LinkTest, AWaitingFrameIsFirstWhenNothingIsOnTheWire)
{
    Link link(10, [this](SlotId slot, std::uint32_t) { arrivals.push_back({slot.index, Simulator::Now().GetNanoSeconds()}); });
    link.Send({0, 1}, 100);
    link.Send({1, 1}, 100);
    Simulator::Schedule(NanoSeconds(850), [&] { link.SetRate(100'000'000); });
    RunAll();
    EXPECT_EQ(arrivals, (std::vector<Arrived>{{0, 800}, {1, 896 + 8'000}}));
}

TEST_F(LinkTest, WhatWaitsOrIsOnItsWayIsLostWhenTheWireIsCut)
{
    Link link(10, [this](SlotId slot, std::uint32_t) { arrivals.push_back({slot.index, Simulator::Now().GetNanoSeconds()}); });
    link.SetDelay(10'000);
    std::vector<std::uint32_t> lost;
    for (std::uint32_t number = 0; number < 15; ++number)
    {
        link.Send({number, 1}, 100); // 800 ns each, and a gap of 96
    }
    Simulator::Schedule(NanoSeconds(11'000), [&] { link.Clear([&](SlotId slot) { lost.push_back(slot.index); }); });
    Simulator::Schedule(NanoSeconds(12'000), [&] { link.Send({99, 1}, 100); });
    RunAll();
    EXPECT_EQ(arrivals, (std::vector<Arrived>{{0, 10'800}, {99, 12'000 + 800 + 10'000}}));
    EXPECT_EQ(lost, (std::vector<std::uint32_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
    EXPECT_EQ(link.Read().at("sent"), 2);
}
