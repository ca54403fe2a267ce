// SPDX-License-Identifier: GPL-2.0-or-later
#include "qrm.h"

#include "test_events.h"
#include "test_frames.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

using namespace netboxit;
using namespace netboxit::stages;
using namespace netboxit::stages::testing;

namespace
{

constexpr std::int64_t MS = 1'000'000;
constexpr std::int64_t SECOND = 1000 * MS;
constexpr double RATE = 20e6; ///< bit/s
constexpr std::int64_t RTT = 700 * MS;
constexpr std::int64_t LAN = 2 * MS; ///< there and back
constexpr std::uint32_t PACKET = 1040; ///< bytes with the IP header
constexpr std::uint32_t MSS = 1000;

/// Scenario S4 of the source, with senders that have no congestion control: clients whose window is their budget times their RTT, as C2ML has
/// it, and attackers that send without a break. The queue behind QRM has no limit.
class Loop
{
  public:
    explicit Loop(const Json& settings) : qrm(settings)
    {
    }

    /// A client that keeps so many packets outstanding.
    void StartClient(std::uint32_t packets)
    {
        nodes.push_back({.window = packets});
        events.At(0, [this, node = nodes.size() - 1] { Open(node); });
    }

    void StartAttacker(double rate)
    {
        nodes.push_back({.attack = BuildUdp(static_cast<std::uint32_t>(0x0a000100 + nodes.size()), PACKET)});
        events.At(0, [this, node = nodes.size() - 1, every = static_cast<std::int64_t>(PACKET * 8e9 / rate)] { Attack(node, every); });
    }

    void RunUntil(std::int64_t end)
    {
        events.RunUntil(end);
    }

    void Measure()
    {
        measuredFrom = events.Now();
        for (auto& node : nodes)
        {
            node.measured = 0;
        }
    }

    /// Of a node behind QRM since Measure(), bit/s with IP headers.
    double RateOf(std::size_t node) const
    {
        return nodes[node].measured * 8e9 / static_cast<double>(events.Now() - measuredFrom);
    }

    std::uint64_t LossesOf(std::size_t node) const
    {
        return nodes[node].losses;
    }

    /// Bytes.
    double LargestQueue() const
    {
        return largestQueue;
    }

  private:
    struct Node
    {
        std::uint32_t window{};
        Frame attack{};
        std::uint32_t next{1};
        double measured{}; ///< bytes
        std::uint64_t losses{};
    };

    SegmentFrame FromNode(std::size_t node) const
    {
        return {.source = static_cast<std::uint32_t>(0x0a000100 + node), .sequence = nodes[node].next};
    }

    bool Enter(std::size_t node, Frame& frame, std::uint32_t bytes)
    {
        if (!qrm.Entering(frame, ReadHeaders(frame), events.Now()))
        {
            ++nodes[node].losses;
            return false;
        }
        nodes[node].measured += bytes;
        free = std::max(free, events.Now()) + static_cast<std::int64_t>(bytes * 8e9 / RATE);
        largestQueue = std::max(largestQueue, static_cast<double>(free - events.Now()) * RATE / 8e9);
        return true;
    }

    void Open(std::size_t node)
    {
        auto syn = FromNode(node);
        syn.sequence = 0;
        syn.flags = "S";
        auto frame = Build(syn);
        Enter(node, frame, 40);
        events.At(free + RTT, [this, node] { Acknowledge(node, 1); });
    }

    /// At QRM; the client learns of it when it has crossed the LAN.
    void Acknowledge(std::size_t node, std::uint32_t number)
    {
        auto ack = Build({.source = 0x0a000002,
                          .destination = static_cast<std::uint32_t>(0x0a000100 + node),
                          .sourcePort = 80,
                          .destinationPort = 40000,
                          .acknowledgement = number,
                          .flags = number == 1 ? "SA" : "A"});
        qrm.Leaving(ack, ReadHeaders(ack), events.Now());
        events.At(events.Now() + LAN, [this, node, edge = number + nodes[node].window * MSS] { Send(node, edge); });
    }

    void Send(std::size_t node, std::uint32_t edge)
    {
        while (nodes[node].next + MSS <= edge)
        {
            auto data = FromNode(node);
            data.payload = MSS;
            auto frame = Build(data);
            nodes[node].next += MSS;
            if (Enter(node, frame, PACKET))
            {
                events.At(free + RTT, [this, node, number = nodes[node].next] { Acknowledge(node, number); });
            }
        }
    }

    void Attack(std::size_t node, std::int64_t every)
    {
        Enter(node, nodes[node].attack, PACKET);
        events.At(events.Now() + every, [this, node, every] { Attack(node, every); });
    }

    Qrm qrm;
    Events events;
    std::vector<Node> nodes;
    std::int64_t free{}; ///< when the link has sent all that waits
    std::int64_t measuredFrom{};
    double largestQueue{};
};

} // namespace

TEST(QrmInALoopTest, AnAttackerHasItsShareAndTheQueueIsBelowTheoremTwo)
{
    for (const auto* police : {"bucket", "reset"})
    {
        for (const int attackers : {0, 1, 3})
        {
            constexpr int NODES = 5;
            constexpr double SHARE = RATE / NODES;
            constexpr auto WINDOW = static_cast<std::uint32_t>(SHARE / 8 * 0.702 / PACKET);
            Loop loop({{"rate", RATE}, {"rtt", 0.7}, {"police", police}});
            for (int node = 0; node < NODES; ++node)
            {
                node < attackers ? loop.StartAttacker(50e6) : loop.StartClient(WINDOW);
            }
            loop.RunUntil(5 * SECOND);
            loop.Measure();
            loop.RunUntil(5 * SECOND + 10 * (RTT + LAN)); // bursts of the beginning still come once each
            for (std::size_t node = 0; node < NODES; ++node)
            {
                EXPECT_NEAR(loop.RateOf(node), SHARE, 0.05 * SHARE) << police << attackers << node;
                EXPECT_TRUE(static_cast<int>(node) < attackers || loop.LossesOf(node) == 0) << police << attackers << node;
            }
            // Theorem 2: rate and RTT, here with the tolerance, and with the packet by which each node may exceed what it has left.
            EXPECT_LE(loop.LargestQueue(), RATE / 8 * 0.702 + NODES * PACKET) << police << attackers;
            EXPECT_GE(loop.LargestQueue(), 0.9 * (NODES - attackers) * WINDOW * PACKET) << police << attackers; // clients' windows at once
        }
    }
}
