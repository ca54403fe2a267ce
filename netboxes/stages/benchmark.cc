// SPDX-License-Identifier: GPL-2.0-or-later
#include "chain.h"

#include "test_frames.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <iostream>
#include <random>

// stages-benchmark SETTINGS FLOWS [PACKETS]: what a packet of a stage costs.
//
// FLOWS TCP connections, opened before, send PACKETS in random order, each with its ACK. All are written into a few frames again and again,
// as a netbox has its packets in slots. SETTINGS is a list of stages as netbox.json has it. One line of JSON tells the CPU time a packet,
// with these stages and with none, in five pairs of trials, and the difference of the medians.

namespace netboxit::stages
{

namespace
{

using namespace testing;

constexpr int PAIRS = 5;
constexpr std::int64_t PACKET_NS = 1'000; ///< between packets, in the stages' time
constexpr std::uint32_t PAYLOAD = 1000;
constexpr std::size_t SOURCE = ETHERNET_HEADER + 12, DESTINATION = SOURCE + 4;  ///< of IPv4 (RFC 791, section 3.1)
constexpr std::size_t DESTINATION_PORT = 2, SEQUENCE = 4, ACKNOWLEDGEMENT = 8, WINDOW = 14; ///< in a TCP header (RFC 9293, section 3.1)
constexpr std::size_t SLOTS = 64;

std::int64_t CpuTime()
{
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
}

/// In one store each: to read a word that was just written by bytes, the processor waits for all its stores before. With a frame from a device
/// it need not.
void Write16(Frame& frame, std::size_t at, std::uint16_t value)
{
    value = htons(value);
    std::memcpy(&frame[at], &value, sizeof value);
}

void Write32(Frame& frame, std::size_t at, std::uint32_t value)
{
    value = htonl(value);
    std::memcpy(&frame[at], &value, sizeof value);
}

constexpr std::uint32_t REMOTE = 0x0a800001;

/// The frames of all connections, in slots.
class Slots
{
  public:
    Slots() : m_data(SLOTS, Build({.destination = REMOTE, .payload = PAYLOAD})), m_acks(SLOTS, Build({.source = REMOTE, .sourcePort = 80}))
    {
    }

    Frame& NextData()
    {
        return m_data[m_next = (m_next + 1) % SLOTS];
    }

    Frame& NextAck()
    {
        return m_acks[m_next];
    }

  private:
    std::vector<Frame> m_data;
    std::vector<Frame> m_acks;
    std::size_t m_next{};
};

/// A connection of a node. Checksums of its frames are wrong, as no stage asks for them.
class Connection
{
  public:
    explicit Connection(std::uint32_t number)
        : m_node(0x0a000000 + number / PORTS), m_port(static_cast<std::uint16_t>(FIRST_PORT + number % PORTS))
    {
    }

    void Open(Chain& chain, std::int64_t now)
    {
        auto syn = Build({.source = m_node, .destination = REMOTE, .sourcePort = m_port, .flags = "S", .options = OPTIONS});
        auto synAck = Build({.source = REMOTE,
                             .destination = m_node,
                             .sourcePort = 80,
                             .destinationPort = m_port,
                             .acknowledgement = 1,
                             .flags = "SA",
                             .options = OPTIONS});
        chain.Entering(syn, ReadHeaders(syn), now);
        chain.Leaving(synAck, ReadHeaders(synAck), now + HANDSHAKE_NS);
        m_sequence = 1;
    }

    void Send(Chain& chain, Slots& slots, std::int64_t now)
    {
        auto& frame = slots.NextData();
        Write32(frame, SOURCE, m_node);
        Write16(frame, TRANSPORT, m_port);
        Write32(frame, TRANSPORT + SEQUENCE, m_sequence);
        m_sequence += PAYLOAD;
        chain.Entering(frame, ReadHeaders(frame), now);
    }

    void Acknowledge(Chain& chain, Slots& slots, std::int64_t now)
    {
        auto& frame = slots.NextAck();
        Write32(frame, DESTINATION, m_node);
        Write16(frame, TRANSPORT + DESTINATION_PORT, m_port);
        Write32(frame, TRANSPORT + ACKNOWLEDGEMENT, m_sequence);
        Write16(frame, TRANSPORT + WINDOW, 60'000);
        chain.Leaving(frame, ReadHeaders(frame), now);
    }

  private:
    static constexpr std::uint32_t PORTS = 50'000, FIRST_PORT = 1024;
    static constexpr std::size_t TRANSPORT = ETHERNET_HEADER + 20;
    static constexpr std::int64_t HANDSHAKE_NS = 50'000'000;
    static inline const std::vector<std::uint8_t> OPTIONS{2, 4, 5, 0xb4, 3, 3, 7}; ///< MSS, window scale

    std::uint32_t m_node;
    std::uint16_t m_port;
    std::uint32_t m_sequence{};
};

/// CPU time a packet, ns. The numbers in the frames go on from `connections`.
double Trial(Chain& chain, std::vector<Connection>& connections, const std::vector<std::uint32_t>& order, std::int64_t& now)
{
    Slots slots;
    const auto began = CpuTime();
    for (const auto number : order)
    {
        connections[number].Send(chain, slots, now);
        connections[number].Acknowledge(chain, slots, now + PACKET_NS);
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
    const auto ignore = [](std::string_view, const Json&) {};
    Chain with(1, 0, ignore), without(1, 0, ignore);
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
