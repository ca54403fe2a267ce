// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../engine/segment.h"

#include "ns3/ipv4-address.h"

#include <optional>

namespace netboxit
{

/// What a frame travels as inside the LTE network, whose bearers carry IP only: an IPv4 packet of the frame's layer-3 length. Its
/// header takes the place of the first 20 bytes of the frame's own (so that none is counted twice) and its type of service says the
/// traffic class, by which traffic flow templates choose the bearer. A frame of less than 32 bytes takes 32.
struct CarrierPacket
{
    SlotId slot;
    ns3::Ipv4Address source;
    ns3::Ipv4Address destination;
    ClassId trafficClass{};

    static ns3::Ptr<ns3::Packet> Make(const Frame& frame,
                                      ns3::Ipv4Address source,
                                      ns3::Ipv4Address destination);

    /// Nothing when the packet is none; `front` bytes of other headers before it are passed over.
    static std::optional<CarrierPacket> Read(const ns3::Ptr<const ns3::Packet>& packet, std::uint32_t front = 0);

    /// The type of service that stands for a class; never 0, so that a template for it matches nothing else.
    static std::uint8_t TypeOfService(ClassId trafficClass)
    {
        return static_cast<std::uint8_t>(trafficClass + 1);
    }
};

/// TS 36.323, 6.2.4, with 12-bit sequence numbers: in front of a carrier packet in RLC.
inline constexpr std::uint32_t PDCP_HEADER = 2;

/// As many as a type of service can tell apart.
inline constexpr std::size_t MOST_CLASSES = 255;

} // namespace netboxit
