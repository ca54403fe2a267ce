// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <optional>

namespace netboxit::queueing::tempest
{

/// The instructions that this thread executes between Start and Stop, as the processor counts them (perf_event_open(2)). Where it cannot, or
/// may not, there is no count.
class InstructionCounter
{
  public:
    InstructionCounter();
    ~InstructionCounter();

    InstructionCounter(const InstructionCounter&) = delete;
    InstructionCounter& operator=(const InstructionCounter&) = delete;

    void Start() const;
    void Stop() const;
    /// All between starts and stops so far.
    std::optional<std::uint64_t> Count() const;

  private:
    int m_descriptor;
};

} // namespace netboxit::queueing::tempest
