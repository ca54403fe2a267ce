// SPDX-License-Identifier: GPL-2.0-or-later
#include "trial.h"

#include "../cake.h"
#include "../cascade.h"
#include "../codel.h"
#include "../fifo.h"
#include "../fq_codel.h"
#include "../make_scheduler.h"
#include "../scheduled.h"
#include "../w2f2q.h"
#include "arrivals.h"
#include "guarantees.h"
#include "instruction_counter.h"

#include <ctime>
#include <map>

namespace netboxit::queueing::tempest
{

namespace
{

/// The time that this thread has had of a processor, ns: what others had of it costs a packet nothing.
std::int64_t ThreadTime()
{
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return 1'000'000'000 * time.tv_sec + time.tv_nsec;
}

std::unique_ptr<Discipline> Made(
    const std::string& name, const Weights& weights, std::uint32_t length, const Channels& channels, double mostLoss)
{
    const auto dropped = [](const Waiting&, Loss) { throw std::logic_error("a queue without a limit dropped a packet"); };
    if (name == "fifo")
    {
        return std::make_unique<Fifo>(Room(), dropped);
    }
    // With the usual settings of netboxes; each flow has a line of its own.
    const auto lines = std::max<std::size_t>(weights.size(), 1024);
    const auto never = [](const Waiting&, Mark) { return false; };
    if (name == "codel")
    {
        return std::make_unique<Codel>(Room(), CodelLaw(5'000'000, 100'000'000, length), dropped, never);
    }
    if (name == "fq-codel")
    {
        return std::make_unique<FqCodel>(Room(), lines, length, CodelLaw(5'000'000, 100'000'000, length), dropped, never);
    }
    if (name == "cake")
    {
        const Cake::Settings settings{.flows = lines, .quantum = length, .isolation = Isolation::TripleIsolate};
        return std::make_unique<Cake>(Room(), settings, CobaltLaw(5'000'000, 100'000'000), [] { return 0.5; }, dropped, never);
    }
    // A line of stations is one of them; of flows it is of the station of its flow.
    const auto loss = [&channels](LineId line) { return channels.Loss(line % channels.Stations()); };
    auto scheduler = name == "w2f2q" ? std::make_unique<W2f2q>(weights, loss, mostLoss) : MakeScheduler(name, weights, length);
    return std::make_unique<Scheduled>(Room(), weights.size(), std::move(scheduler), dropped);
}

std::unique_ptr<Discipline> DisciplineOf(const Options& options, const Channels& channels)
{
    auto discipline = Made(options.scheduler, options.weights, options.length, channels, options.mostLoss);
    if (options.below.empty())
    {
        return discipline;
    }
    const auto stations = static_cast<std::uint32_t>(options.stationWeights.size());
    return std::make_unique<Cascade>(std::move(discipline),
                                     Made(options.below, options.stationWeights, options.length, channels, options.mostLoss),
                                     options.prefetched * options.length,
                                     [stations](Waiting frame)
                                     {
                                         frame.flow = frame.item % stations;
                                         return frame;
                                     });
}

/// A trial under way. What it costs is measured around whole phases, without what decides on arrivals and measures departures.
class Course
{
  public:
    explicit Course(const Options& options)
        : m_options(options), m_channels(options.losses, options.states, options.seed), m_discipline(DisciplineOf(options, m_channels)),
          m_arrivals(options), m_guarantees(options.weights), m_waiting(options.weights.size(), 0), m_stations(options.losses.size())
    {
    }

    Json Run()
    {
        const auto half = (m_options.events + 1) / 2;
        while (m_enqueued < half)
        {
            auto flows = m_arrivals.Phase(m_waiting, m_discipline->Packets());
            flows.resize(std::min<std::uint64_t>(flows.size(), half - m_enqueued));
            Enqueue(flows);
            Dequeue(m_enqueued == half ? 0 : m_options.leastTotal);
        }
        return Told();
    }

  private:
    void Enqueue(const std::vector<LineId>& flows)
    {
        Timed(
            [&]
            {
                for (const auto flow : flows)
                {
                    m_discipline->Enqueue({.item = flow,
                                           .bytes = m_options.length,
                                           .flow = flow,
                                           .source = m_options.hosts > 0 ? static_cast<std::uint32_t>(flow % m_options.hosts) : flow,
                                           .destination = flow},
                                          0,
                                          m_options.rate);
                }
            });
        for (const auto flow : flows)
        {
            ++m_waiting[flow];
            m_guarantees.Enqueued(flow);
        }
        m_enqueued += flows.size();
    }

    void Dequeue(std::uint64_t until)
    {
        while (m_discipline->Packets() > until)
        {
            const std::uint64_t most = OneByOne() ? 1 : m_discipline->Packets() - until;
            m_departures.clear();
            Timed(
                [&]
                {
                    for (std::uint64_t packet = 0; packet < most; ++packet)
                    {
                        m_departures.push_back(m_discipline->Dequeue(0)->item);
                    }
                });
            for (const auto flow : m_departures)
            {
                --m_waiting[flow];
                m_guarantees.Departed(flow);
                if (!m_stations.empty())
                {
                    auto& station = m_stations[flow % m_stations.size()];
                    ++station.sent;
                    station.arrived += 1 - m_channels.Loss(flow % m_channels.Stations());
                }
                m_channels.Step();
            }
            if (until > 0 && m_waiting[m_departures.back()] < m_options.leastOfFlow)
            {
                return;
            }
        }
    }

    /// A flow may end the phase, or channels change: how many of it wait, or the time, has to be known after each packet. To measure the time
    /// of each takes longer than it.
    bool OneByOne() const
    {
        return m_options.leastOfFlow > 0 || m_channels.Change();
    }

    template <typename Work>
    void Timed(Work work)
    {
        const auto before = ThreadTime();
        m_instructions.Start();
        work();
        m_instructions.Stop();
        m_took += ThreadTime() - before;
    }

    Json Told() const
    {
        const auto packets = static_cast<double>(m_enqueued);
        const auto instructions = m_instructions.Count();
        Json told{{"packets", m_enqueued},
                  {"ns_per_packet", OneByOne() ? Json() : Json(static_cast<double>(m_took) / packets)},
                  {"instructions_per_packet",
                   instructions && !OneByOne() ? Json(static_cast<double>(*instructions) / packets) : Json()},
                  {"rfi", m_guarantees.Unfairness() ? Json(*m_guarantees.Unfairness()) : Json()},
                  {"throughput", Throughput()},
                  {"weights", Json::array()},
                  {"stations", Stations()}};
        std::map<std::uint32_t, std::vector<Guarantees::OfFlow>> byWeight;
        for (LineId flow = 0; flow < m_options.weights.size(); ++flow)
        {
            byWeight[m_options.weights[flow]].push_back(m_guarantees.Flows()[flow]);
        }
        const double packetMs = PacketMs();
        for (const auto& [weight, flows] : byWeight)
        {
            Guarantees::OfFlow of;
            for (const auto& flow : flows)
            {
                of.sent += flow.sent;
                of.sumOfDelays += flow.sumOfDelays;
                of.longest = std::max(of.longest, flow.longest);
                of.behind = std::max(of.behind, flow.behind);
                of.late = std::max(of.late, flow.late);
            }
            const auto sent = static_cast<double>(of.sent);
            told["weights"].push_back({{"weight", weight},
                                       {"flows", flows.size()},
                                       {"packets", of.sent},
                                       {"delay_ms_mean", of.sent > 0 ? Json(of.sumOfDelays / sent * packetMs) : Json()},
                                       {"delay_ms_max", static_cast<double>(of.longest) * packetMs},
                                       {"b_wfi_packets", of.behind},
                                       {"t_wfi_ms", of.late * packetMs}});
        }
        return told;
    }

    /// Of the stations together; null where there are none.
    Json Throughput() const
    {
        double sent = 0, arrived = 0;
        for (const auto& station : m_stations)
        {
            sent += static_cast<double>(station.sent);
            arrived += station.arrived;
        }
        return m_stations.empty() ? Json() : Json(arrived / sent);
    }

    Json Stations() const
    {
        auto stations = Json::array();
        const auto greatest = std::ranges::max(m_options.weights);
        for (std::size_t number = 0; number < m_stations.size(); ++number)
        {
            double late = 0;
            for (auto flow = number; flow < m_options.weights.size(); flow += m_stations.size())
            {
                late = m_options.weights[flow] == greatest ? std::max(late, m_guarantees.Flows()[flow].late) : late;
            }
            const auto& station = m_stations[number];
            stations.push_back({{"loss", m_options.losses[number]},
                                {"packets", station.sent},
                                {"throughput", station.sent > 0 ? Json(station.arrived / static_cast<double>(station.sent)) : Json()},
                                {"t_wfi_ms", late * PacketMs()}});
        }
        return stations;
    }

    double PacketMs() const
    {
        return 8e3 * m_options.length / m_options.rate;
    }

    struct Station
    {
        std::uint64_t sent{0}; ///< packets to it
        double arrived{0};     ///< of them, as expected
    };

    const Options& m_options;
    Channels m_channels;
    std::unique_ptr<Discipline> m_discipline;
    Arrivals m_arrivals;
    Guarantees m_guarantees;
    InstructionCounter m_instructions;
    std::vector<std::uint32_t> m_waiting; ///< packets, by flow
    std::vector<Station> m_stations;
    std::vector<LineId> m_departures;
    std::uint64_t m_enqueued{0};
    std::int64_t m_took{0}; ///< ns
};

} // namespace

Json Try(const Options& options)
{
    return Course(options).Run();
}

} // namespace netboxit::queueing::tempest
