// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "line_heap.h"
#include "weighted_scheduler.h"

namespace netboxit::queueing
{

/// WF2Q+ (Bennett and Zhang, 1997): of the packets that a fluid server would have begun, the one goes that it would end first. No line is
/// ever ahead of its share by more than a packet. The time of a packet grows with the logarithm of the lines that have something.
class Wf2qPlus : public WeightedScheduler
{
  public:
    explicit Wf2qPlus(const Weights& weights);

    void Begin(LineId line, std::uint32_t bytes) override;
    LineId Next() override;
    void Sent(LineId line, std::uint32_t bytes, std::uint32_t following) override;
    void TakenOut(LineId line, std::uint32_t following) override;
    void Weigh(LineId line, std::uint32_t weight) override;

  private:
    void Queue(LineId line, std::uint32_t bytes);
    void Remove(LineId line);

    std::vector<Stamps> m_stamps;
    double m_weight;      ///< of all lines together
    LineHeap m_starts;     ///< lines that may not go yet, by their starts
    LineHeap m_ends;       ///< lines that may go, by their ends
    VirtualTime m_now{0};
};

} // namespace netboxit::queueing
