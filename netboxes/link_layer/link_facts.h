// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cmath>
#include <cstdint>

namespace netboxit::multiservice
{

/// What the link below tells its services (section 8.3): they check their timers against it and estimate delays with it. The
/// scheduler and the schemes work without it.
struct LinkFacts
{
    double rate{};               ///< bit/s, in the direction in which this end sends
    std::int64_t delay{};        ///< ns, one way, without transmission
    std::uint32_t framePayload{}; ///< bytes: the longest packet in a frame

    /// ns that so many bytes are in transmission.
    std::int64_t TimeOf(double bytes) const
    {
        return std::llround(bytes * 8e9 / rate);
    }
};

} // namespace netboxit::multiservice
