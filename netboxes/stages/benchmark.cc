// SPDX-License-Identifier: GPL-2.0-or-later
#include "chain.h"

#include "test_frames.h"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <random>

// stages-benchmark SETTINGS FLOWS [PACKETS]: what a packet of a stage costs.
//
// FLOWS TCP connections, opened before, send PACKETS in random order, each with its ACK. SETTINGS is a list of stages as netbox.json has
// it. One line of JSON tells the CPU time a packet, with these stages and with none, in five pairs of trials, and the difference of the
// medians.

namespace netboxit::stages
{

namespace
{

using namespace testing;

constexpr int PAIRS = 5;
constexpr std::int64_t PACKET_NS = 1'000; ///< between packets, in the stages' time
constexpr std::uint32_t PAYLOAD = 1000;
constexpr std::size_t SEQUENCE = 4, ACKNOWLEDGEMENT = 8, WINDOW = 14; ///< in a TCP header (RFC 9293, section 3.1)

std::int64_t CpuTime()
{
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
}

void Write32(Frame& frame, std::size_t at, std::uint32_t value)
{
    for (int byte = 0; byte < 4; ++byte)
    {
        frame[at + byte] = static_cast<std::uint8_t>(value >> (24 - 8 * byte));
    }
}

/// A connection of a node, with the frames that it sends again and again, under other numbers.
class Connection
{
  public:
    explicit Connection(std::uint32_t number)
        : m_node(0x0a000000 + number / PORTS), m_port(static_cast<std::uint16_t>(FIRST_PORT + number % PORTS)),
          m_data(Build(FromNode({.payload = PAYLOAD}))), m_ack(Build(ToNode({.window = 60'000}))), m_transport(TransportAt(m_data))
    {
    }

    void Open(Chain& chain, std::int64_t now)
    {
        auto syn = Build(FromNode({.flags = "S", .options = OPTIONS}));
        auto synAck = Build(ToNode({.acknowledgement = 1, .flags = "SA", .options = OPTIONS}));
        chain.Entering(syn, ReadHeaders(syn), now);
        chain.Leaving(synAck, ReadHeaders(synAck), now + HANDSHAKE_NS);
        m_sequence = 1;
    }

    void Send(Chain& chain, std::int64_t now)
    {
        Write32(m_data, m_transport + SEQUENCE, m_sequence);
        m_sequence += PAYLOAD;
        chain.Entering(m_data, ReadHeaders(m_data), now);
    }

    void Acknowledge(Chain& chain, std::int64_t now)
    {
        Write32(m_ack, m_transport + ACKNOWLEDGEMENT, m_sequence);
        m_ack[m_transport + WINDOW] = 0xea; // large again
        chain.Leaving(m_ack, ReadHeaders(m_ack), now);
    }

  private:
    static constexpr std::uint32_t REMOTE = 0x0a800001, PORTS = 50'000, FIRST_PORT = 1024;
    static constexpr std::int64_t HANDSHAKE_NS = 50'000'000;
    static inline const std::vector<std::uint8_t> OPTIONS{2, 4, 5, 0xb4, 3, 3, 7}; ///< MSS, window scale

    SegmentFrame FromNode(SegmentFrame segment) const
    {
        segment.source = m_node;
        segment.destination = REMOTE;
        segment.sourcePort = m_port;
        return segment;
    }

    SegmentFrame ToNode(SegmentFrame segment) const
    {
        segment.source = REMOTE;
        segment.destination = m_node;
        segment.sourcePort = 80;
        segment.destinationPort = m_port;
        return segment;
    }

    std::uint32_t m_node;
    std::uint16_t m_port;
    Frame m_data;
    Frame m_ack;
    std::size_t m_transport;
    std::uint32_t m_sequence{};
};

/// CPU time a packet, ns. The numbers in the frames go on from `connections`.
double Trial(Chain& chain, std::vector<Connection>& connections, const std::vector<std::uint32_t>& order, std::int64_t& now)
{
    const auto began = CpuTime();
    for (const auto number : order)
    {
        connections[number].Send(chain, now);
        connections[number].Acknowledge(chain, now + PACKET_NS);
        now += 2 * PACKET_NS;
    }
    return static_cast<double>(CpuTime() - began) / (2.0 * static_cast<double>(order.size()));
}

double Median(std::vector<double> values)
{
    std::ranges::sort(values);
    return values[values.size() / 2];
}

int Main(const Json& settings, std::uint32_t flows, std::size_t packets)
{
    Chain with(1, 0), without(1, 0);
    with.Set(settings, 0);
    std::vector<Connection> connections;
    std::int64_t now = 0;
    for (std::uint32_t number = 0; number < flows; ++number)
    {
        connections.emplace_back(number);
        connections.back().Open(with, now += PACKET_NS);
    }
    now += 100'000'000;
    std::mt19937 random(1);
    std::vector<std::uint32_t> order(packets);
    std::ranges::generate(order, [&] { return static_cast<std::uint32_t>(random() % flows); });
    Trial(with, connections, order, now);
    std::vector<double> staged, bare;
    for (int pair = 0; pair < PAIRS; ++pair)
    {
        staged.push_back(Trial(with, connections, order, now));
        bare.push_back(Trial(without, connections, order, now));
    }
    std::cout << Json{{"flows", flows},
                      {"packets", 2 * packets},
                      {"with_ns", staged},
                      {"without_ns", bare},
                      {"stage_ns", Median(staged) - Median(bare)},
                      {"statistics", with.Read(now)}}
                     .dump()
              << std::endl;
    return 0;
}

} // namespace

} // namespace netboxit::stages

int main(int argc, char** argv)
{
    using netboxit::stages::Json;
    if (argc < 3 || argc > 4)
    {
        std::cerr << "usage: stages-benchmark SETTINGS FLOWS [PACKETS]\n";
        return 2;
    }
    try
    {
        return netboxit::stages::Main(Json::parse(argv[1]),
                                      static_cast<std::uint32_t>(std::max(1L, std::atol(argv[2]))),
                                      argc == 4 ? std::strtoull(argv[3], nullptr, 10) : 1'000'000);
    }
    catch (const std::exception& error)
    {
        std::cerr << "stages-benchmark: " << error.what() << '\n';
        return 2;
    }
}
