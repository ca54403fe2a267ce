// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../engine/segment.h"
#include "../queueing/discipline.h"

namespace netboxit::errors
{

/// A frame on its medium: the simulated times between which it is sent, ns, and the bytes that it takes there.
struct Transmission
{
    std::int64_t start{};
    std::int64_t end{};
    std::uint32_t bytes{};
};

/// Which frames of one direction never arrive. Frames are asked for in the order in which they are sent: none starts before the
/// one before it has ended.
class ErrorModel
{
  public:
    virtual ~ErrorModel() = default;
    virtual bool IsLost(const Transmission& frame) = 0;
    /// Other parameters from now on, as loss.py dumps them; throws OutOfRange and then changes nothing.
    virtual void Set(const Json& value, std::int64_t now) = 0;
    /// The network's time begins now: what follows a time of its own starts at its time 0, until which it stood still.
    virtual void Begin(std::int64_t now) {}
};

} // namespace netboxit::errors
