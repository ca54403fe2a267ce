// SPDX-License-Identifier: GPL-2.0-or-later
#include "real_loop.h"

#include "ns3/simulator.h"

#include <sys/eventfd.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <queue>

using namespace netboxit;

namespace
{

constexpr std::int64_t MICROSECOND = 1'000;
constexpr std::int64_t MILLISECOND = 1'000'000;
constexpr std::int64_t SECOND = 1'000'000'000;

/// A real clock that the test moves: all that takes time says so here.
class MovedClock : public RealClock
{
  public:
    void Pass(std::int64_t time) const
    {
        m_now += time;
    }

    void Start() override
    {
    }

    void Synchronise() override
    {
    }

    std::int64_t Now() const override
    {
        Pass(20);
        return m_now;
    }

    std::int64_t StampOf(std::int64_t time) const override
    {
        return time + EPOCH;
    }

    std::int64_t TimeOf(std::int64_t stamp) const override
    {
        return stamp - EPOCH;
    }

  private:
    static constexpr std::int64_t EPOCH = 1'700'000'000 * SECOND;

    mutable std::int64_t m_now{0};
};

/// A ring whose frames come at equal distances, and which takes a while for each that it sends.
class TimedPort : public Port
{
  public:
    struct Traffic
    {
        std::int64_t interval{};
        std::uint64_t frames{};
        std::size_t room{1'000'000};
        std::int64_t sendTime{}; ///< what each frame costs the netbox
        bool seen{true};         ///< without the kernel
    };

    TimedPort(std::string name, const Traffic& traffic, const MovedClock& clock)
        : Port(std::move(name), 1500), m_traffic(traffic), m_clock(clock),
          m_bell(::eventfd(1, EFD_NONBLOCK), "no bell")
    {
    }

    /// Always readable: the time passes when the waiting ends.
    int Descriptor() const override
    {
        ++m_polls;
        return m_bell.Get();
    }

    bool HasFrames() const override
    {
        return m_traffic.seen && IsFilled();
    }

    bool BeginWait() override
    {
        return !HasFrames();
    }

    void EndWait() override
    {
        m_clock.Pass(5 * MICROSECOND);
    }

    std::size_t Receive(std::span<Reception> batch) override
    {
        std::size_t count = 0;
        for (; count < batch.size() && IsFilled(); ++count)
        {
            auto& [slot, stamp] = batch[count];
            slot->bytes = slot->room.first(60);
            std::ranges::fill(slot->room.first(60), std::uint8_t{0});
            slot->room[0] = 2; // a station's address, not a group's
            stamp = m_clock.StampOf(m_waiting.front());
            m_waiting.pop();
            Accept(60);
        }
        return count;
    }

    void Send(std::span<Departure> departures, std::int64_t) override
    {
        for (auto& departure : departures)
        {
            m_clock.Pass(m_traffic.sendTime);
            departure.taken = true;
            ++counters.sent;
        }
    }

    void Refresh() override
    {
    }

    Json Describe() const override
    {
        return {{"kind", "timed"}};
    }

    bool HasEnded() const
    {
        return m_come == m_traffic.frames && m_waiting.empty();
    }

    std::uint64_t Polls() const
    {
        return m_polls;
    }

  private:
    bool IsFilled() const
    {
        Arrive();
        return !m_waiting.empty();
    }

    void Arrive() const
    {
        for (const auto now = m_clock.Now(); m_come < m_traffic.frames; ++m_come)
        {
            const auto time = static_cast<std::int64_t>(m_come + 1) * m_traffic.interval;
            if (time > now)
            {
                break;
            }
            if (m_waiting.size() < m_traffic.room)
            {
                m_waiting.push(time);
            }
        }
    }

    Traffic m_traffic;
    const MovedClock& m_clock;
    netboxit::Descriptor m_bell;
    mutable std::uint64_t m_come{0};
    mutable std::queue<std::int64_t> m_waiting;
    mutable std::uint64_t m_polls{0};
};

struct Outcome
{
    Json statistics;
    std::int64_t duration;
    std::uint64_t polls;

    double Delivered() const
    {
        return statistics["ports"][1]["sent"];
    }

    double Dropped() const
    {
        return statistics["ports"][0]["overload_drops"];
    }

    double LatenessUs(const char* what) const
    {
        return statistics["lateness_us"]["frame"][what];
    }
};

struct HostStop
{
    std::int64_t at{};
    std::int64_t duration{};
};

/// Lets a netbox pass all this traffic from one port, and from another, to a third whose frames take
/// `sendTime` each.
Outcome Pass(const TimedPort::Traffic& traffic,
             std::int64_t sendTime,
             const HostStop& stop = {},
             const TimedPort::Traffic& other = {})
{
    Configuration configuration;
    configuration.parameters = {{"delay", 0.0001}, {"tick", 0.001}};
    configuration.realtime.priority = 0;
    configuration.stations = {
        {.name = "in", .port = {}}, {.name = "out", .port = {}}, {.name = "other", .port = {}}};
    const auto events = ns3::CreateObject<EventQueue>();
    ns3::Simulator::SetImplementation(events);
    MovedClock clock;
    std::vector<std::unique_ptr<Port>> ports;
    ports.push_back(std::make_unique<TimedPort>("in", traffic, clock));
    ports.push_back(std::make_unique<TimedPort>("out", TimedPort::Traffic{.sendTime = sendTime}, clock));
    ports.push_back(std::make_unique<TimedPort>("other", other, clock));
    const auto& source = static_cast<const TimedPort&>(*ports.front());
    EndSignal end;
    Netbox netbox(configuration, MakeSegment, std::move(ports), *events, clock);
    RealLoop loop(configuration, netbox, *events, clock, end);
    const std::function<void()> watch = [&]
    {
        if (source.HasEnded() && netbox.FramesInside() == 0)
        {
            events->Stop();
            return;
        }
        ns3::Simulator::Schedule(ns3::MilliSeconds(1), watch);
    };
    watch();
    ns3::Simulator::Schedule(ns3::NanoSeconds(stop.at), [&clock, &stop] { clock.Pass(stop.duration); });
    EXPECT_EQ(loop.Run(), 0);
    return {loop.Statistics(), clock.Now(), source.Polls()};
}

} // namespace

TEST(RealLoop, WithinItsCapacityItDeliversAllInTime)
{
    const auto outcome = Pass({.interval = 100 * MICROSECOND, .frames = 10'000}, 50 * MICROSECOND);
    EXPECT_EQ(outcome.Delivered(), 10'000);
    EXPECT_LT(outcome.LatenessUs("max"), 200);
}

TEST(RealLoop, AtTwiceItsCapacityItDeliversItsCapacityAndFramesOfBoundedAge)
{
    const auto outcome = Pass({.interval = 25 * MICROSECOND, .frames = 80'000}, 50 * MICROSECOND);
    const auto capacity = static_cast<double>(outcome.duration) / (50 * MICROSECOND);
    EXPECT_GT(outcome.Delivered(), 0.95 * capacity);
    EXPECT_EQ(outcome.Delivered() + outcome.Dropped(), 80'000);
    // 100 ms at the port, then a batch of 64 frames and a turn of 0.5 ms.
    EXPECT_LT(outcome.LatenessUs("max"), 105'000);
    EXPECT_GT(outcome.LatenessUs("p50"), 90'000) << "the wait at the port counts as lateness";
}

TEST(RealLoop, ASmallRingKeepsOverloadShort)
{
    const auto outcome =
        Pass({.interval = 25 * MICROSECOND, .frames = 80'000, .room = 200}, 50 * MICROSECOND);
    const auto capacity = static_cast<double>(outcome.duration) / (50 * MICROSECOND);
    EXPECT_GT(outcome.Delivered(), 0.95 * capacity);
    EXPECT_EQ(outcome.Dropped(), 0) << "what the producer drops is in the ring's header";
    EXPECT_LT(outcome.LatenessUs("max"), (200 + 64 + 20) * 50);
}

TEST(RealLoop, MakesUpForAHostThatStoppedForAMoment)
{
    const auto outcome = Pass(
        {.interval = 100 * MICROSECOND, .frames = 10'000}, 20 * MICROSECOND, {.at = 300 * MILLISECOND, .duration = 80 * MILLISECOND});
    EXPECT_EQ(outcome.Delivered(), 10'000);
    EXPECT_EQ(outcome.Dropped(), 0);
    EXPECT_GT(outcome.LatenessUs("max"), 75'000);
    EXPECT_LT(outcome.LatenessUs("p50"), 200);
}

TEST(RealLoop, AsksTheKernelSeldomWhileARingHasFrames)
{
    const auto outcome = Pass({.interval = 5 * MICROSECOND, .frames = 100'000}, 10 * MICROSECOND);
    // Every 50 us would be allowed; while a batch of 64 passes (640 us) the ports cannot take their turn.
    EXPECT_LT(outcome.polls, outcome.duration / (50 * MICROSECOND));
    EXPECT_GT(outcome.polls, outcome.duration / MILLISECOND) << "other ports need the kernel";
}

TEST(RealLoop, APortThatNeedsTheKernelHasItsTurnBesideARingThatAlwaysHasFrames)
{
    const auto outcome = Pass({.interval = 25 * MICROSECOND, .frames = 80'000},
                              50 * MICROSECOND,
                              {},
                              {.interval = 1 * MILLISECOND, .frames = 500, .seen = false});
    EXPECT_EQ(outcome.statistics["ports"][2]["received"], 500);
    EXPECT_EQ(outcome.statistics["ports"][2]["overload_drops"], 0);
    EXPECT_GT(outcome.Dropped(), 30'000);
}
