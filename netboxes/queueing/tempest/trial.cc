// SPDX-License-Identifier: GPL-2.0-or-later
#include "trial.h"

#include "../cascade.h"
#include "../fifo.h"
#include "../make_scheduler.h"
#include "../scheduled.h"
#include "arrivals.h"
#include "guarantees.h"
#include "instruction_counter.h"

#include <chrono>
#include <map>

namespace netboxit::queueing::tempest
{

namespace
{

std::unique_ptr<Discipline> Made(const std::string& name, const Weights& weights, std::uint32_t length)
{
    const auto dropped = [](const Waiting&, Loss) { throw std::logic_error("a queue without a limit dropped a packet"); };
    if (name == "fifo")
    {
        return std::make_unique<Fifo>(Room(), dropped);
    }
    return std::make_unique<Scheduled>(Room(), weights.size(), MakeScheduler(name, weights, length), dropped);
}

std::unique_ptr<Discipline> DisciplineOf(const Options& options)
{
    auto discipline = Made(options.scheduler, options.weights, options.length);
    if (options.below.empty())
    {
        return discipline;
    }
    const auto stations = static_cast<std::uint32_t>(options.stationWeights.size());
    return std::make_unique<Cascade>(std::move(discipline),
                                     Made(options.below, options.stationWeights, options.length),
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
        : m_options(options), m_discipline(DisciplineOf(options)), m_arrivals(options), m_guarantees(options.weights),
          m_waiting(options.weights.size(), 0)
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
                    m_discipline->Enqueue({flow, m_options.length, 0, flow}, 0, m_options.rate);
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
                if (!m_options.losses.empty())
                {
                    m_arrived += 1 - m_options.losses[flow % m_options.losses.size()];
                }
            }
            if (until > 0 && m_waiting[m_departures.back()] < m_options.leastOfFlow)
            {
                return;
            }
        }
    }

    /// A flow may end the phase: how many of it wait has to be known after each packet. To measure the time of each takes longer than it.
    bool OneByOne() const
    {
        return m_options.leastOfFlow > 0;
    }

    template <typename Work>
    void Timed(Work work)
    {
        const auto before = std::chrono::steady_clock::now();
        m_instructions.Start();
        work();
        m_instructions.Stop();
        m_took += std::chrono::steady_clock::now() - before;
    }

    Json Told() const
    {
        const auto packets = static_cast<double>(m_enqueued);
        const auto instructions = m_instructions.Count();
        Json told{{"packets", m_enqueued},
                  {"ns_per_packet", OneByOne() ? Json() : Json(std::chrono::duration<double, std::nano>(m_took).count() / packets)},
                  {"instructions_per_packet",
                   instructions && !OneByOne() ? Json(static_cast<double>(*instructions) / packets) : Json()},
                  {"rfi", m_guarantees.Unfairness() ? Json(*m_guarantees.Unfairness()) : Json()},
                  {"throughput", m_options.losses.empty() ? Json() : Json(m_arrived / packets)},
                  {"weights", Json::array()}};
        std::map<std::uint32_t, std::vector<Guarantees::OfFlow>> byWeight;
        for (LineId flow = 0; flow < m_options.weights.size(); ++flow)
        {
            byWeight[m_options.weights[flow]].push_back(m_guarantees.Flows()[flow]);
        }
        const double packetMs = 8e3 * m_options.length / m_options.rate;
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

    const Options& m_options;
    std::unique_ptr<Discipline> m_discipline;
    Arrivals m_arrivals;
    Guarantees m_guarantees;
    InstructionCounter m_instructions;
    std::vector<std::uint32_t> m_waiting; ///< packets, by flow
    std::vector<LineId> m_departures;
    std::uint64_t m_enqueued{0};
    double m_arrived{0};
    std::chrono::steady_clock::duration m_took{};
};

} // namespace

Json Try(const Options& options)
{
    return Course(options).Run();
}

} // namespace netboxit::queueing::tempest
