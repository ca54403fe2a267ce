// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../engine/ecn.h"
#include "../engine/frame.h"

#include <cstdint>
#include <optional>

namespace netboxit::queueing
{

/// What a discipline knows of something that waits to be sent.
struct Waiting
{
    std::uint32_t item{};   ///< the number by which the queue finds it again
    std::uint32_t bytes{};  ///< that it takes of the queue's room, and of the transmitter's time
    std::int64_t entered{}; ///< simulated time, ns
    std::uint32_t flow{};   ///< hash of its flow, where the discipline tells flows apart
    ClassId trafficClass{};
    Ecn ecn{}; ///< where the discipline looks at it
    std::optional<StationId> to{}; ///< the receiver on the medium, where the technology has a Channel; none: everyone
    std::uint32_t source{};      ///< hash of the host that it is from, and of the one that it is for, where the discipline tells hosts apart
    std::uint32_t destination{};
};

} // namespace netboxit::queueing
