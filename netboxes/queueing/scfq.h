// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "line_heap.h"
#include "weighted_scheduler.h"

namespace netboxit::queueing
{

/// Self-clocked fair queueing (Golestani, 1994): the packet goes that would end first, in a virtual time that the packet in service sets
/// to its own end. The time of a packet grows with the logarithm of the lines that have something.
class Scfq : public WeightedScheduler
{
  public:
    explicit Scfq(const Weights& weights);

    void Begin(LineId line, std::uint32_t bytes) override;
    LineId Next() override;
    void Sent(LineId line, std::uint32_t bytes, std::uint32_t following) override;
    void TakenOut(LineId line, std::uint32_t following) override;
    void Weigh(LineId line, std::uint32_t weight) override;

  private:
    void Queue(LineId line, std::uint32_t bytes);

    std::vector<Stamps> m_stamps;
    LineHeap m_ends;
    VirtualTime m_now{0};
};

} // namespace netboxit::queueing
