// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "host.h"

#include "../engine/configuration_section.h"

#include "ns3/nstime.h"
#include "ns3/tcp-socket-state.h"
#include "ns3/type-id.h"

#include <optional>

namespace netboxit
{

/// What of a connection a variant changes besides the congestion control.
enum class TcpBehaviour
{
    Ordinary,
    Reno1999,
    Noordwijk
};

/// How a host's TCP behaves in one connection. The defaults are those of Linux, or what the variant has in their place.
struct TcpOptions
{
    ns3::TypeId variant;                     ///< of the congestion control, as ns-3 calls it
    TcpBehaviour behaviour;                  ///< of the variant
    bool sack;                               ///< RFC 2018
    ns3::TcpSocketState::UseEcn_t ecn;       ///< RFC 3168
    bool lowLatency;                         ///< its packets are ECT(1): L4S (RFC 9331)
    bool timestamps;                         ///< RFC 7323
    bool windowScaling;                      ///< RFC 7323
    std::uint32_t initialWindow;             ///< segments
    std::optional<std::uint32_t> ssthresh;   ///< at first, bytes
    std::optional<std::uint32_t> segment;    ///< largest, bytes: what the MSS option says
    std::uint32_t sendBuffer;                ///< bytes
    std::uint32_t receiveBuffer;             ///< bytes
    std::uint32_t ackEvery;                  ///< segments
    ns3::Time ackTimeout;
    bool pacing;
    ns3::Time smallestTimeout;               ///< of retransmissions
    std::uint32_t burst;                     ///< Noordwijk's first one, segments
    ns3::Time burstTimer;                    ///< Noordwijk's first one
};

/// Of the key "tcp", which may be absent.
TcpOptions ReadTcpOptions(Section& configuration);

} // namespace netboxit
