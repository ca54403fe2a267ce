// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "deficits.h"
#include "weighted_scheduler.h"

namespace netboxit::queueing
{

/// Deficit round robin (Shreedhar and Varghese, 1996): in each turn a line may send a quantum by its weight, and what it saved. Constant
/// time where the quantum is at least the longest packet.
class Drr : public WeightedScheduler
{
  public:
    /// `quantum` is that of the least weight, bytes.
    Drr(const Weights& weights, std::uint32_t quantum);

    void Begin(LineId line, std::uint32_t bytes) override;
    LineId Next() override;
    void Sent(LineId line, std::uint32_t bytes, std::uint32_t following) override;
    void TakenOut(LineId line, std::uint32_t following) override;
    void Weigh(LineId line, std::uint32_t weight) override;

  private:
    std::uint64_t Quantum(LineId line) const
    {
        return m_quantum * m_weights[line] / m_least;
    }

    Weights m_weights;
    std::uint32_t m_least; ///< of the weights
    std::uint64_t m_quantum;
    Deficits m_deficits;
    LineNeighbours m_neighbours;
    LineList m_active;
};

} // namespace netboxit::queueing
