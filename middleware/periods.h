// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "rate.h"

namespace netboxit::middleware
{

/// How often what is sent while nothing changes, so that it takes little of the link that is shared. README.md has the calculation.
struct Periods
{
    Time refresh;  ///< how often a member refreshes its lease
    Time lease;    ///< how long a lease lasts without
    Time announce; ///< how often the allocator repeats its announcement
};

/// The refreshes of all members take at most 0.5 % of the link and the announcements at most 0.1 %, as far as LONGEST_PERIOD permits. Each
/// period is 4 s, doubled until that is so. `copies` of an announcement are sent: 1 by multicast, at least.
Periods PeriodsFor(std::uint32_t members, Rate capacity, std::uint32_t copies = 1);

/// For so long members that join a restarted allocator distribute themselves at random: together they then take about 5 % of the link,
/// the part that RFC 3550, section 6.2, leaves to control traffic. `share` is that of each. At most 60 s.
Time SpreadFor(Rate share);

/// The least time between two announcements of changes, so that members which come and go take at most 1 % of the link by them. 10 ms at
/// least: so long joins are collected that come at once; C2ML's public source collects them for 1 ms, less than the jitter of a wireless
/// LAN. 1 s at most.
Time SpacingFor(Rate capacity, std::uint32_t copies = 1);

/// Of the repetitions of an announcement after a change the first one comes after so long, or after SpacingFor() where that is
/// longer, and the interval doubles until Periods::announce (as Trickle does, RFC 6206, section 4.2). A member that a change did
/// not reach hears of it so.
inline constexpr Time FIRST_REPETITION = 125 * MILLISECOND;

/// 4 s * 2^14: for 65,536 members on a link of 0.4 Mbit/s, and less than 2^32 ms with its lease.
inline constexpr Time LONGEST_PERIOD = 65'536 * SECOND;

} // namespace netboxit::middleware
