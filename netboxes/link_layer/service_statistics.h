// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "packet_pool.h"

#include <nlohmann/json.hpp>

#include <array>
#include <cstdint>

namespace netboxit::multiservice
{

/// What a service at one end has sent and received (section 3.1): counts since it began.
struct ServiceStatistics
{
    // Sender.
    std::uint64_t offeredPackets{}; ///< from above
    std::uint64_t offeredBytes{};
    std::uint64_t sentData{}; ///< frames with packets that were sent for the first time
    std::uint64_t sentDataBytes{}; ///< of their packets, without headers
    std::uint64_t retransmissions{}; ///< frames
    std::uint64_t sentParity{};
    std::uint64_t sentControl{}; ///< ACK, NAK, keepalive
    std::uint64_t sentBytes{};   ///< of all frames, with headers
    std::uint64_t timeouts{};
    std::array<std::uint64_t, DROP_NAMES.size()> dropped{}; ///< packets of this end, by Drop

    // Receiver.
    std::uint64_t receivedFrames{}; ///< undamaged ones, of all kinds
    std::uint64_t damagedFrames{};
    std::uint64_t delivered{}; ///< packets
    std::uint64_t deliveredBytes{};
    std::uint64_t repaired{};   ///< of them: those that came by a retransmission or by parity
    std::uint64_t duplicates{}; ///< frames whose packet had been delivered or stored
    std::uint64_t lost{};       ///< packets of the other end that do not come any more: the residual loss
    std::int64_t delay{};       ///< ns, the sum of the estimates for the delivered packets

    std::uint64_t& Dropped(Drop reason)
    {
        return dropped[static_cast<std::size_t>(reason)];
    }

    /// A packet came that was counted as lost.
    void Found()
    {
        lost -= lost > 0 ? 1 : 0;
    }

    /// By name, without `delay`: metrics tell it.
    nlohmann::json Read() const;
};

} // namespace netboxit::multiservice
