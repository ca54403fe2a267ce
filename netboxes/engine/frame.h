// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "ns3/packet.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace netboxit
{

/// Index of a station, which is also the index of its port: 0 … stations-1, in the order of the configuration.
using StationId = std::uint16_t;

/// Index into the netbox's declared traffic classes; the last one is always the implicit class "default".
using ClassId = std::uint16_t;

/// Names a frame inside a netbox: an index into the slot table and a generation that makes stale names harmless.
struct SlotId
{
    std::uint32_t index{};
    std::uint32_t generation{};

    bool operator==(const SlotId&) const = default;
};

/// What a segment sees of an Ethernet frame. The bytes themselves stay in the slot table.
struct Frame
{
    SlotId slot;
    /// Layer-3 length in bytes: the Ethernet payload without header, minimum-size padding and FCS.
    std::uint32_t length{};
    /// EtherType in host order (0x8100 for a frame with a VLAN tag, whose tag counts in `length`).
    std::uint16_t etherType{};
    /// DiffServ code point (RFC 2474), 0 when the frame is not IP.
    std::uint8_t dscp{};
    /// What the ingress classifier said.
    ClassId trafficClass{};
};

/// Where a frame shall go inside the segment: one station, or all but the sender (broadcast, multicast, unknown unicast).
struct Destination
{
    std::optional<StationId> station;

    bool IsEveryone() const { return !station.has_value(); }
};

/// Why a copy of a frame never reached a station.
enum class Loss : std::uint8_t
{
    OnAir = 1,   ///< corrupted by noise, fading or interference, and not repaired
    QueueFull,   ///< no room in a queue of the medium
    QueueExpired,///< waited in a queue of the medium for longer than the medium allows
    RetryLimit,  ///< retransmitted as often as the medium allows, in vain
    Outage,      ///< the link is down or the station out of range
    Unsupported, ///< the medium cannot carry such a frame (too long, for instance)
    Unknown,     ///< nothing more was heard of it: its slot expired
    QueueEarly,  ///< dropped by the discipline of a queue (CoDel, PIE, RED) that had room
    Policed,     ///< dropped by a stage of a port (netboxes/stages)
};

inline constexpr std::array LOSSES{Loss::OnAir,
                                   Loss::QueueFull,
                                   Loss::QueueExpired,
                                   Loss::RetryLimit,
                                   Loss::Outage,
                                   Loss::Unsupported,
                                   Loss::Unknown,
                                   Loss::QueueEarly,
                                   Loss::Policed};

/// What statistics call the reasons, by their value.
inline constexpr std::array<std::string_view, LOSSES.size() + 1> LOSS_NAMES{
    "", "on_air", "queue_full", "queue_expired", "retry_limit", "outage", "unsupported", "unknown", "queue_early", "policed"};

inline constexpr std::string_view NameOf(Loss reason)
{
    return LOSS_NAMES[static_cast<std::size_t>(reason)];
}

/// The packet that stands for a frame inside ns-3: 12 bytes that name the slot, then virtual zero bytes up to `length`.
/// Shorter frames take MINIMUM_TOKEN bytes on the medium.
ns3::Ptr<ns3::Packet> MakeToken(const Frame& frame);

/// The slot that a token names, or nothing when the packet is not a token (a beacon, say).
std::optional<SlotId> ReadToken(const ns3::Ptr<const ns3::Packet>& packet);

inline constexpr std::uint32_t MINIMUM_TOKEN = 12;

} // namespace netboxit
