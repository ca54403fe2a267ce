// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "ns3/simulator.h"

#include <cmath>
#include <cstdint>

namespace netboxit::link
{

/// The simulated time, ns.
inline std::int64_t Now()
{
    return ns3::Simulator::Now().GetNanoSeconds();
}

inline std::int64_t Nanoseconds(double seconds)
{
    return std::llround(seconds * 1e9);
}

} // namespace netboxit::link
