// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "descriptor.h"
#include "rate.h"

#include <ctime>

namespace netboxit::middleware
{

/// One of the kernel's clocks, as CLOCK_MONOTONIC; ns.
inline Time ReadClock(clockid_t clock)
{
    timespec now{};
    Checked(::clock_gettime(clock, &now), "reading the clock");
    return now.tv_sec * SECOND + now.tv_nsec;
}

} // namespace netboxit::middleware
