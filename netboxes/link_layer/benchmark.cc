// SPDX-License-Identifier: GPL-2.0-or-later
// What a packet costs in the link layer: CPU time of both ends together, through a full window, without a simulator.
#include "multi_service_link.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <memory>
#include <new>
#include <string>
#include <vector>

// multiservice-benchmark [PACKETS]: one line of JSON, for each scheme ns of CPU time a packet, the median of five trials, and
// blocks of memory that were taken in all of them.
//
// Packets of 64 bytes go from one end to the other at 200,000 a second; each hundredth frame is lost. The loop has one queue of
// frames in transmission and on their way, which are due in their order, and looks at all alarms that are set.

namespace
{

std::uint64_t blocksTaken = 0;

} // namespace

void* operator new(std::size_t size)
{
    ++blocksTaken;
    void* const block = std::malloc(size);
    return block != nullptr ? block : throw std::bad_alloc();
}

void operator delete(void* block) noexcept
{
    std::free(block);
}

void operator delete(void* block, std::size_t) noexcept
{
    std::free(block);
}

namespace netboxit::multiservice
{

namespace
{

constexpr int TRIALS = 5;
constexpr std::uint32_t PACKET = 64;
constexpr unsigned LOST_ONE_IN = 100;
/// 200,000 frames of 67 bytes a second.
const LinkFacts LINK{200e3 * 67 * 8, 100'000, PACKET};

std::int64_t CpuTime()
{
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
}

class LoopTime : public Timebase
{
  public:
    std::int64_t Now() const override
    {
        return m_now;
    }

    std::unique_ptr<Alarm> MakeAlarm(std::function<void()> call) override
    {
        m_alarms.push_back(std::make_shared<LoopAlarm::State>(LoopAlarm::State{std::move(call)}));
        return std::make_unique<LoopAlarm>(m_alarms.back(), m_next);
    }

    void AdvanceTo(std::int64_t time)
    {
        while (m_next <= time)
        {
            m_now = std::max(m_now, m_next);
            m_next = NEVER;
            for (std::size_t alarm = 0; alarm < m_alarms.size(); ++alarm)
            {
                auto& state = *m_alarms[alarm];
                if (state.due <= m_now)
                {
                    state.due = NEVER;
                    state.call();
                }
                m_next = std::min(m_next, state.due);
            }
        }
        m_now = std::max(m_now, time);
    }

  private:
    static constexpr std::int64_t NEVER = INT64_MAX;

    struct LoopAlarm : Alarm
    {
        struct State
        {
            std::function<void()> call;
            std::int64_t due{NEVER};
        };

        LoopAlarm(std::shared_ptr<State> of, std::int64_t& first) : state(std::move(of)), next(first)
        {
        }

        ~LoopAlarm() override
        {
            Cancel();
        }

        void Set(std::int64_t time) override
        {
            state->due = time;
            next = std::min(next, time);
        }

        void Cancel() override
        {
            state->due = NEVER;
        }

        std::shared_ptr<State> state;
        std::int64_t& next;
    };

    std::int64_t m_now{0};
    std::int64_t m_next{NEVER};
    std::vector<std::shared_ptr<LoopAlarm::State>> m_alarms;
};

/// Frames on their way, which arrive in their order.
class OnAir
{
  public:
    bool IsEmpty() const
    {
        return m_first == m_end;
    }

    std::int64_t FirstArrival() const
    {
        return m_frames[m_first % MOST].first;
    }

    void Push(std::int64_t arrival, const AirFrame& frame)
    {
        m_frames[m_end++ % MOST] = {arrival, frame};
    }

    AirFrame Pop()
    {
        return std::move(m_frames[m_first++ % MOST].second);
    }

  private:
    /// More than a delay has time for.
    static constexpr std::uint64_t MOST = 1024;

    std::vector<std::pair<std::int64_t, AirFrame>> m_frames{MOST};
    std::uint64_t m_first{0};
    std::uint64_t m_end{0};
};

/// One end, and the frames that it has sent.
struct End : LinkHost
{
    void Transmit(const AirFrame& frame) override
    {
        transmitting = &frame;
        ends = time->Now() + LINK.TimeOf(frame.Bytes());
    }

    void Deliver(ServiceId, const Packet&) override
    {
        ++delivered;
    }

    void Opened() override
    {
    }

    void GaveUp(ServiceId service, std::uint16_t sequence) override
    {
        other->layer->PeerGaveUp(service, sequence);
    }

    std::span<const std::uint8_t> BytesOf(const Packet&) const override
    {
        return {};
    }

    LoopTime* time{};
    End* other{};
    std::unique_ptr<MultiServiceLink> layer{};
    const AirFrame* transmitting{};
    std::int64_t ends{};
    OnAir onAir{};
    std::uint64_t sent{0};
    std::uint64_t delivered{0};
};

class Run
{
  public:
    explicit Run(const Json& scheme) : m_pool([](std::uint64_t, bool, Drop) {})
    {
        for (auto& end : m_ends)
        {
            end.time = &m_time;
            end.other = &end == &m_ends[0] ? &m_ends[1] : &m_ends[0];
            end.layer = std::make_unique<MultiServiceLink>(
                Json{{"services", {scheme}}}, LINK, &end == &m_ends[0] ? LinkEnd::Base : LinkEnd::Mobile, m_time, end);
        }
    }

    /// ns a packet.
    double Trial(std::uint64_t packets)
    {
        const auto began = CpuTime();
        for (std::uint64_t packet = 0; packet < packets; ++packet)
        {
            AdvanceTo(m_arrival);
            m_arrival += 5'000;
            m_ends[0].layer->Send(0, m_pool.Take(packet, PACKET));
        }
        return static_cast<double>(CpuTime() - began) / static_cast<double>(packets);
    }

    double DeliveredShare() const
    {
        return static_cast<double>(m_ends[1].delivered) / static_cast<double>(m_ends[0].layer->StatisticsOf(0).offeredPackets);
    }

  private:
    void AdvanceTo(std::int64_t time)
    {
        for (;;)
        {
            End* first = nullptr;
            bool departs = false;
            auto due = time;
            for (auto& end : m_ends)
            {
                if (end.transmitting != nullptr && end.ends <= due)
                {
                    first = &end;
                    departs = true;
                    due = end.ends;
                }
                if (!end.onAir.IsEmpty() && end.onAir.FirstArrival() < due)
                {
                    first = &end;
                    departs = false;
                    due = end.onAir.FirstArrival();
                }
            }
            m_time.AdvanceTo(due);
            if (first == nullptr)
            {
                return;
            }
            departs ? Depart(*first) : Arrive(*first);
        }
    }

    void Depart(End& end)
    {
        if (++end.sent % LOST_ONE_IN != 0)
        {
            end.onAir.Push(m_time.Now() + LINK.delay, *end.transmitting);
        }
        end.transmitting = nullptr;
        end.layer->TransmitComplete();
    }

    void Arrive(End& end)
    {
        end.other->layer->Receive(end.onAir.Pop());
    }

    LoopTime m_time;
    PacketPool m_pool;
    std::array<End, 2> m_ends;
    std::int64_t m_arrival{0};
};

int Main(std::uint64_t packets)
{
    const Json arq{{"timer", 0.001}, {"window", 2000}, {"ack_delay", 5e-6}, {"sequence_bits", 12}};
    const Json rlp{{"timer", 0.001}, {"attempts", 3}, {"ring", 2000}, {"keepalive", 0.01}, {"sequence_bits", 12}};
    const Json parity{{"block", 8}, {"inactivity", 0.001}};
    const std::vector<std::pair<const char*, Json>> schemes{{"none", Json::object()},
                                                            {"go-back-n", arq},
                                                            {"sr", arq},
                                                            {"sr-m1", arq},
                                                            {"sr-m2", arq},
                                                            {"rlp", rlp},
                                                            {"rlp-oos", rlp},
                                                            {"xor", parity},
                                                            {"xor-adaptive", parity}};
    Json results;
    for (const auto& [name, settings] : schemes)
    {
        auto scheme = settings;
        scheme["scheme"] = name;
        scheme["share"] = 1;
        scheme["queue"] = 1000;
        Run run(scheme);
        run.Trial(packets / 10); // warms up
        std::vector<double> times;
        times.reserve(TRIALS);
        const auto before = blocksTaken;
        for (int trial = 0; trial < TRIALS; ++trial)
        {
            times.push_back(run.Trial(packets));
        }
        const auto blocks = blocksTaken - before;
        std::ranges::sort(times);
        results[name] = {{"packet_ns", times[TRIALS / 2]}, {"blocks", blocks}, {"delivered", run.DeliveredShare()}};
    }
    std::cout << results.dump() << std::endl;
    return 0;
}

} // namespace

} // namespace netboxit::multiservice

int main(int argc, char** argv)
{
    if (argc > 2)
    {
        std::cerr << "usage: multiservice-benchmark [PACKETS]\n";
        return 2;
    }
    return netboxit::multiservice::Main(argc == 2 ? std::max(10ULL, std::strtoull(argv[1], nullptr, 10)) : 1'000'000);
}
