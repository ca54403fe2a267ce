// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "rate.h"

namespace netboxit::middleware
{

/// The window that a budget means for a TCP that counts its window: Eq. 2.2 of C2ML (C. A. Grazia, dissertation, section 2.2.3.3). A sender
/// takes `slowStartThreshold` as its ssthresh and as the most that its window may be, and starts from `congestionWindow` when its budget
/// became smaller: slow start then reaches the budget within one round trip, without a burst.
struct Window
{
    std::uint64_t slowStartThreshold; ///< bytes: budget / 8 * RTT
    std::uint64_t congestionWindow;   ///< bytes: half of it
};

/// With less, a sender waits for the delayed ACK of each segment (RFC 9293, section 3.8.6.3, has each second segment acknowledged).
inline constexpr std::uint32_t LEAST_SEGMENTS = 2;

/// `budget` from 0 to MOST_RATE, of payload: the caller leaves out headers. `minimumRtt` in ns, at least 0: the smallest one that the
/// connection saw, as C2ML's authors do in their own code, since a longer one has the queue in it. `segment` in bytes, at least 1. Both
/// windows are whole segments, rounded down, and at least LEAST_SEGMENTS: below that the sender exceeds its budget.
Window WindowOf(Rate budget, Time minimumRtt, std::uint32_t segment);

} // namespace netboxit::middleware
