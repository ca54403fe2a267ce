// SPDX-License-Identifier: GPL-2.0-or-later
#include "real_loop.h"

#include "ns3/simulator.h"

#include <sys/timerfd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <iostream>
#include <vector>

// loop-benchmark FRAMES [RATE [RECORDS]]: what the engine and an Ethernet segment cost for 64-byte frames, without the kernel.
//
// FRAMES enter at one station and leave at the other, through ports that are memory of this process: RATE a second by the
// clock, into room for as many as a memory wire has; without RATE (0) as fast as they are taken. Frame records go to the
// file RECORDS. One line of JSON tells the CPU time a frame, what was delivered, and how late.

namespace netboxit
{

namespace
{

/// What a memory wire of 4 MiB holds of these frames.
constexpr std::size_t ROOM = 4194304 / 80;
constexpr std::size_t BATCH = 64;
constexpr std::size_t FRAME = 60; ///< without checksum

std::int64_t Read(clockid_t clock)
{
    timespec time{};
    clock_gettime(clock, &time);
    return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
}

/// Makes frames for its netbox, and takes those that leave.
class BenchmarkPort : public Port
{
  public:
    BenchmarkPort(std::string name, std::uint64_t frames, double rate)
        : Port(std::move(name), 1500), m_left(frames), m_rate(rate), m_bell(::timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK), "no bell")
    {
        const std::array<std::uint8_t, 42> headers{2,    0, 0, 0, 0,    2, 2, 0, 0, 0,  0,  1, 8, 0, // Ethernet
                                                   0x45, 0, 0, 46, 0,   0, 0, 0, 64, 17, 0, 0,        // IPv4
                                                   10,   0, 0, 1, 10,   0, 0, 2,                      //
                                                   0x9c, 0x40, 0x13, 0x8c, 0, 26, 0, 0};              // UDP
        std::ranges::copy(headers, m_frame.begin());
        m_stamps.reserve(ROOM);
    }

    int Descriptor() const override
    {
        return m_bell.Get();
    }

    bool HasFrames() const override
    {
        return const_cast<BenchmarkPort*>(this)->Produce();
    }

    bool BeginWait() override
    {
        if (Produce())
        {
            return false;
        }
        if (m_left > 0)
        {
            Ring(m_next);
        }
        return true;
    }

    void EndWait() override
    {
        Ring(0);
    }

    std::size_t Receive(std::span<Reception> batch) override
    {
        Produce();
        const auto count = std::min(batch.size(), m_stamps.size() - m_taken);
        for (auto& reception : batch.first(count))
        {
            std::ranges::copy(m_frame, reception.slot->room.begin());
            reception.slot->bytes = reception.slot->room.first(FRAME);
            reception.stamp = m_stamps[m_taken++];
            Accept(FRAME);
        }
        return count;
    }

    void Send(std::span<Departure> departures, std::int64_t) override
    {
        counters.sent += departures.size();
        for (auto& departure : departures)
        {
            departure.taken = true;
        }
    }

    void Refresh() override
    {
    }

    Json Describe() const override
    {
        return {{"kind", "benchmark"}};
    }

    /// Nothing is left to come.
    bool HasEnded() const
    {
        return m_left == 0 && m_taken == m_stamps.size();
    }

  private:
    /// Makes the bell ring at this time; 0: not at all.
    void Ring(std::int64_t time)
    {
        const itimerspec at{{}, {time / 1'000'000'000, time % 1'000'000'000}};
        ::timerfd_settime(m_bell.Get(), TFD_TIMER_ABSTIME, &at, nullptr);
    }

    /// Brings the ring up to date. True when frames are in it.
    bool Produce()
    {
        if (m_taken == m_stamps.size())
        {
            m_stamps.clear();
            m_taken = 0;
        }
        const auto now = Read(CLOCK_REALTIME);
        if (m_next == 0)
        {
            m_next = now;
        }
        const auto interval = m_rate > 0 ? static_cast<std::int64_t>(1e9 / m_rate) : 0;
        while (m_left > 0 && (interval > 0 ? m_next <= now : m_stamps.size() < BATCH))
        {
            --m_left;
            if (m_stamps.size() - m_taken < ROOM)
            {
                m_stamps.push_back(interval > 0 ? m_next : now);
            }
            else
            {
                ++counters.overloadDrops;
            }
            m_next += interval;
        }
        return m_taken < m_stamps.size();
    }

    std::uint64_t m_left;
    double m_rate;
    netboxit::Descriptor m_bell;
    std::array<std::uint8_t, FRAME> m_frame{};
    std::vector<std::int64_t> m_stamps; ///< of the frames in the ring; those before m_taken are gone
    std::size_t m_taken{0};
    std::int64_t m_next{0};
};

int Run(std::uint64_t frames, double rate, const std::string& records)
{
    Configuration configuration;
    configuration.name = "benchmark";
    configuration.technology = "ethernet";
    configuration.clock = ClockKind::Real;
    configuration.records = records;
    configuration.realtime.priority = 0;
    configuration.parameters = {{"medium", "link"},
                                {"rate", 10e9},
                                {"delay", 0},
                                {"length", nullptr},
                                {"velocity_factor", 0.67},
                                {"queue",
                                 {{"discipline", "fifo"},
                                  {"packets", 100'000},
                                  {"bytes", nullptr},
                                  {"buffer", nullptr},
                                  {"time", nullptr}}},
                                {"bit_error_rate", 0},
                                {"outage", false}};
    for (const auto* name : {"left", "right"})
    {
        configuration.parameters["stations"][name] = {
            {"rate", nullptr}, {"delay", nullptr}, {"length", nullptr}, {"outage", false}};
        configuration.stations.push_back({.name = name, .port = {}});
    }
    const auto events = ns3::CreateObject<EventQueue>();
    ns3::Simulator::SetImplementation(events);
    ns3::Simulator::Run();
    std::vector<std::unique_ptr<Port>> ports;
    auto left = std::make_unique<BenchmarkPort>("left", frames, rate);
    const auto& source = *left;
    ports.push_back(std::move(left));
    ports.push_back(std::make_unique<BenchmarkPort>("right", 0, 0));
    EndSignal end;
    RealClock clock;
    Netbox netbox(configuration, MakeSegment, std::move(ports), *events, clock);
    RealLoop loop(configuration, netbox, *events, clock, end);
    const std::function<void()> stopWhenAllHaveLeft = [&]
    {
        if (source.HasEnded() && netbox.FramesInside() == 0)
        {
            events->Stop();
            return;
        }
        ns3::Simulator::Schedule(ns3::MilliSeconds(1), stopWhenAllHaveLeft);
    };
    ns3::Simulator::Schedule(ns3::MilliSeconds(1), stopWhenAllHaveLeft);
    const auto began = Read(CLOCK_MONOTONIC);
    const auto cpu = Read(CLOCK_PROCESS_CPUTIME_ID);
    loop.Run();
    const auto took = static_cast<double>(Read(CLOCK_PROCESS_CPUTIME_ID) - cpu);
    const auto elapsed = static_cast<double>(Read(CLOCK_MONOTONIC) - began) / 1e9;
    const auto statistics = loop.Statistics();
    const double delivered = statistics["frames"]["delivered"];
    std::cout << Json{{"cpu_ns_per_frame", took / delivered},
                      {"delivered_per_s", delivered / elapsed},
                      {"delivered", delivered},
                      {"overload_drops", statistics["ports"][0]["overload_drops"]},
                      {"lost", statistics["frames"]["lost"]["queue_full"]},
                      {"missed", statistics["missed"]},
                      {"lateness_us", statistics["lateness_us"]}}
              << std::endl;
    return 0;
}

} // namespace

} // namespace netboxit

int main(int argc, char** argv)
{
    if (argc < 2)
    {
        std::cerr << "usage: " << argv[0] << " FRAMES [RATE [RECORDS]]" << std::endl;
        return 2;
    }
    return netboxit::Run(
        std::strtoull(argv[1], nullptr, 10), argc > 2 ? std::strtod(argv[2], nullptr) : 0, argc > 3 ? argv[3] : "");
}
