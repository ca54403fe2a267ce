// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "discipline.h"
#include "scheduler.h"

namespace netboxit::queueing
{

/// A line for each traffic class, each with a discipline of its own, which share the transmitter by a scheduler.
///
/// A scheduler goes by the bytes of each line's first packet, and a discipline may drop that one when its turn comes. So the line whose turn
/// it is gives a packet; where that is not as long as the scheduler was told, the scheduler is told again, and asked again: a line is served
/// for what it sends, and not for what it drops. A packet whose turn it then is not waits at the head of its line, past its discipline.
class ByClass : public Discipline
{
  public:
    /// Of each class one, by ClassId; frames of a class beyond them are in the last one. The room is that of each line.
    ByClass(std::vector<std::unique_ptr<Discipline>> disciplines, std::unique_ptr<Scheduler> scheduler);

    void Enqueue(const Waiting& frame, std::int64_t now, double rate) override;
    std::optional<Waiting> Dequeue(std::int64_t now) override;
    std::optional<Waiting> TakeOlder(std::int64_t since) override;
    std::vector<Waiting> TakeTo(StationId receiver) override;
    std::uint32_t FirstBytes() const override;
    std::size_t Packets() const override;
    std::uint64_t Bytes() const override;
    bool TellsFlowsApart() const override;
    bool TellsHostsApart() const override;
    bool LooksAtEcn() const override;

  private:
    struct ClassLine
    {
        bool IsEmpty() const
        {
            return !head && discipline->Packets() == 0;
        }

        std::uint32_t FirstBytes() const
        {
            return head ? head->bytes : discipline->FirstBytes();
        }

        std::unique_ptr<Discipline> discipline;
        std::optional<Waiting> head; ///< which its discipline gave before its turn came
        std::uint32_t told{0};       ///< the scheduler: bytes of the first packet
    };

    void TakeOut(LineId number, std::uint32_t following);

    std::vector<ClassLine> m_lines;
    std::unique_ptr<Scheduler> m_scheduler;
};

} // namespace netboxit::queueing
