// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "scheduler.h"

namespace netboxit::queueing
{

/// Strict priority: the first line that has something goes, in the order of their numbers. Others wait for as long as it has.
class Priority : public Scheduler
{
  public:
    explicit Priority(std::size_t lines) : m_waits(lines, false)
    {
    }

    void Begin(LineId line, std::uint32_t bytes) override;
    LineId Next() override;
    void Sent(LineId line, std::uint32_t bytes, std::uint32_t following) override;
    void TakenOut(LineId line, std::uint32_t following) override;

  private:
    std::vector<bool> m_waits; ///< whether a line has something
};

} // namespace netboxit::queueing
