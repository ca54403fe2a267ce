// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../scheduler.h"

#include <deque>
#include <optional>

namespace netboxit::queueing::tempest
{

/// What flows got of a transmitter, beside their shares (Grazia, 4.3.2.5). Packets have one length. A packet takes one unit of time, and
/// time goes on with departures alone.
class Guarantees
{
  public:
    explicit Guarantees(const Weights& weights);

    void Enqueued(LineId flow);
    void Departed(LineId flow);

    struct OfFlow
    {
        std::uint64_t sent{0};    ///< packets
        std::uint64_t longest{0}; ///< from a packet's arrival to its departure, packets
        double sumOfDelays{0};    ///< packets
        /// The most that it was behind its share when a packet of its own had gone, over any interval in which it had something: B-WFI
        /// (Bennett and Zhang, 1997), packets.
        double behind{0};
        /// The most that a packet came later than with its flow's share alone: T-WFI, packets.
        double late{0};
    };

    const std::vector<OfFlow>& Flows() const
    {
        return m_told;
    }

    /// The greatest difference of two flows' service by weight over any interval in which both had something (RFI: Golestani, 1994),
    /// packets by weight; none of more flows than PAIRED.
    std::optional<double> Unfairness() const
    {
        return m_pairs.empty() ? std::nullopt : std::optional(m_unfairness);
    }

    /// So many flows are compared pair by pair.
    static constexpr std::size_t PAIRED = 128;

  private:
    struct Arrival
    {
        std::uint64_t at;
        std::size_t before; ///< packets of its flow that waited, with it
    };

    struct State
    {
        double share{0};
        double ahead{0}; ///< the least lag since it has something, packets
        std::deque<Arrival> waiting;
    };

    double Lag(LineId flow) const
    {
        return m_flows[flow].share * static_cast<double>(m_now) - static_cast<double>(m_told[flow].sent);
    }

    double Served(LineId flow) const
    {
        return static_cast<double>(m_told[flow].sent) / m_weights[flow];
    }

    struct Extremes
    {
        double least{0};
        double most{0};
    };

    void Compare(LineId flow);

    Weights m_weights;
    std::vector<State> m_flows;
    std::vector<OfFlow> m_told;
    std::vector<Extremes> m_pairs; ///< of the first's service less the second's, since both have something
    double m_unfairness{0};
    std::uint64_t m_now{0}; ///< departures
};

} // namespace netboxit::queueing::tempest
