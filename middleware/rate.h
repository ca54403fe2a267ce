// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>

namespace netboxit::middleware
{

/// Bit/s. Whole numbers, so that sums of budgets are exact.
using Rate = std::int64_t;

/// No link and no budget has more: 1 Pbit/s, our own choice. Products of two rates and a number of members then fit in 128 bits, and sums
/// of rates in 64. A member that knows no limit of its access reports this rate.
inline constexpr Rate MOST_RATE = 1'000'000'000'000'000;

/// ns, of a clock that never goes back.
using Time = std::int64_t;

inline constexpr Time MILLISECOND = 1'000'000;
inline constexpr Time SECOND = 1000 * MILLISECOND;
/// Later than everything.
inline constexpr Time NEVER = INT64_MAX;

} // namespace netboxit::middleware
