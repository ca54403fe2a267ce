// SPDX-License-Identifier: GPL-2.0-or-later
#include "link.h"

#include "../engine/event_queue.h"
#include "../engine/testing/no_frames.h"

#include "ns3/data-rate.h"
#include "ns3/drop-tail-queue.h"
#include "ns3/node.h"
#include "ns3/point-to-point-channel.h"
#include "ns3/point-to-point-net-device.h"
#include "ns3/simulator.h"

#include <gtest/gtest.h>

#include <map>
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

Json Fifo(std::uint32_t packets)
{
    return {{"discipline", "fifo"}, {"packets", packets}};
}

/// One that takes so many bytes on the wire.
Outgoing FrameOf(std::uint32_t number, std::uint32_t bytes)
{
    const std::uint32_t around = PREAMBLE + ETHERNET_HEADER + FRAME_CHECK_SEQUENCE;
    return {{.slot = {number, 1}, .length = bytes - around}, {}};
}

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

    std::unique_ptr<Link> MakeLink(const Json& said)
    {
        return std::make_unique<Link>(
            said,
            1,
            frames,
            [this](const Outgoing& outgoing) { arrivals.push_back(Here(outgoing)); },
            [this](const Outgoing& outgoing, Loss reason) { lost[reason].push_back(Here(outgoing)); });
    }

    static Arrived Here(const Outgoing& outgoing)
    {
        return {outgoing.frame.slot.index, Simulator::Now().GetNanoSeconds()};
    }

    std::vector<std::uint32_t> Numbers(Loss reason)
    {
        std::vector<std::uint32_t> numbers;
        std::ranges::transform(lost[reason], std::back_inserter(numbers), &Arrived::number);
        return numbers;
    }

    void RunAll()
    {
        while (queue->NextDue())
        {
            queue->RunNext();
        }
    }

    ns3::Ptr<EventQueue> queue = ns3::CreateObject<EventQueue>();
    NoFrames frames;
    std::vector<Arrived> arrivals;
    std::map<Loss, std::vector<Arrived>> lost;
};

int Waiting(Link& link)
{
    return link.Read().at("queue").at("packets");
}

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
    const auto ours = MakeLink(Fifo(room));
    ours->SetRate(rate);
    ours->SetDelay(delay);
    std::mt19937 random(5);
    // Nearly as much as the link carries, in clusters: the queue is empty, in between, and full at times.
    const auto gap = 8e9 / static_cast<double>(rate) * 900;
    std::exponential_distribution<double> pause(1 / (8 * gap));
    std::geometric_distribution<int> cluster(1.0 / 8);
    std::uniform_int_distribution<std::uint32_t> length(72, 1526);
    std::vector<Arrived> dropped;
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
                                    ours->Send(FrameOf(number, bytes));
                                    if (!theirs.Send({number, 1}, bytes))
                                    {
                                        dropped.push_back({number, Simulator::Now().GetNanoSeconds()});
                                    }
                                });
        }
    }
    RunAll();
    EXPECT_EQ(arrivals, expected);
    EXPECT_GT(expected.size(), 1000u);
    EXPECT_EQ(lost[Loss::QueueFull], dropped);
    EXPECT_EQ(dropped.empty(), room >= 100);
    EXPECT_EQ(Waiting(*ours), 0);
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
    const auto link = MakeLink(Fifo(10));
    link->SetDelay(10'000);
    for (std::uint32_t number = 0; number < 3; ++number)
    {
        link->Send(FrameOf(number, 100)); // 800 ns each, and a gap of 96
    }
    EXPECT_EQ(Waiting(*link), 2);
    Simulator::Schedule(NanoSeconds(850), // in the gap after the first
                        [&]
                        {
                            link->SetRate(100'000'000);
                            link->SetDelay(0);
                            EXPECT_EQ(Waiting(*link), 2);
                        });
    RunAll();
    EXPECT_EQ(arrivals,
              (std::vector<Arrived>{{0, 10'800}, {1, 10'800}, {2, 896 + 8'000 + 960 + 8'000}}));
}

TEST_F(LinkTest, AWaitingFrameIsFirstWhenNothingIsOnTheWire)
{
    for (const std::uint64_t rate : {100'000'000UL, 10'000'000'000UL})
    {
        const auto link = MakeLink(Fifo(10));
        const auto now = Simulator::Now().GetNanoSeconds();
        link->Send(FrameOf(0, 100));
        link->Send(FrameOf(1, 100));
        Simulator::Schedule(NanoSeconds(850), [&] { link->SetRate(rate); });
        RunAll();
        const auto duration = static_cast<std::int64_t>(800'000'000'000 / rate);
        EXPECT_EQ(arrivals, (std::vector<Arrived>{{0, now + 800}, {1, now + 896 + duration}}));
        arrivals.clear();
    }
}

TEST_F(LinkTest, WhatWaitsOrIsOnItsWayIsLostWhenTheWireIsCut)
{
    const auto link = MakeLink(Fifo(10));
    link->SetDelay(10'000);
    for (std::uint32_t number = 0; number < 15; ++number)
    {
        link->Send(FrameOf(number, 100)); // 800 ns each, and a gap of 96
    }
    Simulator::Schedule(NanoSeconds(11'000), [&] { link->Clear(Loss::Outage); });
    Simulator::Schedule(NanoSeconds(12'000), [&] { link->Send(FrameOf(99, 100)); });
    RunAll();
    EXPECT_EQ(arrivals, (std::vector<Arrived>{{0, 10'800}, {99, 12'000 + 800 + 10'000}}));
    EXPECT_EQ(Numbers(Loss::Outage), (std::vector<std::uint32_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
    EXPECT_EQ(Numbers(Loss::QueueFull), (std::vector<std::uint32_t>{11, 12, 13, 14}));
    EXPECT_EQ(link->Read().at("sent"), 2);
}

TEST_F(LinkTest, FramesBeginLaterThanTheyComeAndWhatWaitedForTooLongDoesNot)
{
    auto said = Fifo(10);
    said["time"] = 1e-3;
    const auto link = MakeLink(said);
    link->SetRate(1'000'000);
    for (std::uint32_t number = 0; number < 4; ++number)
    {
        link->Send(FrameOf(number, 113)); // 904 us, and a gap of 96
    }
    RunAll();
    EXPECT_EQ(arrivals, (std::vector<Arrived>{{0, 904'000}, {1, 1'904'000}}));
    EXPECT_EQ(Numbers(Loss::QueueExpired), (std::vector<std::uint32_t>{2, 3}));
    EXPECT_EQ(link->Read().at("queue").at("delay_s"), 1e-3);
}
