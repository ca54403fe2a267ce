// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>

namespace netboxit
{

/// What a segment can say of a station's link now: items of DLEP (RFC 8175, section 13).
struct LinkState
{
    std::uint64_t transmit{}; ///< bit/s at which the station's frames leave; 0: the link is down
    std::uint64_t receive{};  ///< bit/s at which frames come to it
    std::int64_t latency{};   ///< ns from the end of sending to the arrival, of what it sends

    bool operator==(const LinkState&) const = default;
};

} // namespace netboxit
