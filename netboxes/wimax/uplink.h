// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "burst_profile.h"
#include "connection.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace netboxit::wimax
{

/// What of a grant the base station made for one connection; the subscriber may spend it on another (6.3.6.2:
/// grants are to the station).
struct UplinkShare
{
    std::size_t flow{};    ///< index into the subscriber's uplink flows
    std::uint32_t bytes{}; ///< for data
    bool poll{};           ///< and room for a bandwidth request header
};

/// A data grant burst of the UL-MAP, to a subscriber's basic CID.
struct UplinkGrant
{
    StationId subscriber{};
    ProfileId profile{};
    std::uint32_t firstSymbol{}; ///< of the uplink subframe; the short preamble
    std::uint32_t symbols{};     ///< without preamble
    std::vector<UplinkShare> shares;
};

/// The UL-MAP of one uplink subframe.
struct UplinkMap
{
    bool ranging{};
    std::uint32_t symbols{}; ///< in use
    std::vector<UplinkGrant> grants;
};

/// What the number in a bandwidth request means.
enum class RequestKind
{
    Aggregate,   ///< all that waits: in a bandwidth request header (6.3.6.1)
    Incremental, ///< so much more: piggybacked in a grant management subheader (6.3.6.1)
    Size         ///< ertPS: what every further grant shall have, in either of the two (6.3.5.2.2.1)
};

struct BandwidthRequest
{
    std::size_t flow{};
    std::uint32_t bytes{};
    RequestKind kind{};
};

/// A PDU of a subscriber with its place in the burst.
struct UplinkPdu
{
    Pdu pdu;
    std::size_t flow{};
    std::uint32_t offset{};
    std::optional<BandwidthRequest> piggyback; ///< in a grant management subheader
};

/// What a subscriber made of a grant. Request headers come first in the burst.
struct UplinkBurst
{
    std::vector<BandwidthRequest> headers;
    std::vector<UplinkPdu> pdus;
};

} // namespace netboxit::wimax
