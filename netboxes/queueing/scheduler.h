// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace netboxit::queueing
{

/// The number of a line, from 0.
using LineId = std::uint32_t;

/// The order in which several lines share a transmitter, each by its weight. It knows nothing of a packet but its bytes, and of a line
/// its first packet.
class Scheduler
{
  public:
    virtual ~Scheduler() = default;
    /// A line that was empty has a packet of so many bytes.
    virtual void Begin(LineId line, std::uint32_t bytes) = 0;
    /// The line whose first packet goes next; one of them has something. The same until a packet is sent or taken out, or a line begins.
    virtual LineId Next() = 0;
    /// The first packet of the line that is next was sent; `following` are the bytes of the one behind it, 0 where there is none.
    virtual void Sent(LineId line, std::uint32_t bytes, std::uint32_t following) = 0;
    /// The first packet of any line was taken out without being sent; `following` likewise.
    virtual void TakenOut(LineId line, std::uint32_t following) = 0;
};

/// Weights of all lines, each at least 1.
using Weights = std::vector<std::uint32_t>;

} // namespace netboxit::queueing
