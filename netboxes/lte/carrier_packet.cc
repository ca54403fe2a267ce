// SPDX-License-Identifier: GPL-2.0-or-later
#include "carrier_packet.h"

#include "ns3/ipv4-header.h"

#include <algorithm>
#include <array>

namespace netboxit
{

namespace
{

constexpr std::uint32_t IPV4_HEADER = 20; ///< RFC 791, without options
constexpr std::uint32_t TYPE_OF_SERVICE = 1;
constexpr std::uint32_t SOURCE = 12;
constexpr std::uint32_t DESTINATION = 16;
/// Headers of layer 2 that may be in front: PDCP has 2 bytes (TS 36.323, 6.2.4, 12-bit sequence numbers).
constexpr std::uint32_t LONGEST_FRONT = 2;
/// For experiments (RFC 3692), so that no classifier looks for ports behind the header.
constexpr std::uint8_t PROTOCOL = 253;

} // namespace

ns3::Ptr<ns3::Packet>
CarrierPacket::Make(const Frame& frame, ns3::Ipv4Address source, ns3::Ipv4Address destination)
{
    auto inner = frame;
    inner.length = std::max(frame.length, IPV4_HEADER + MINIMUM_TOKEN) - IPV4_HEADER;
    auto packet = MakeToken(inner);
    ns3::Ipv4Header header;
    header.SetSource(source);
    header.SetDestination(destination);
    header.SetTos(TypeOfService(frame.trafficClass));
    header.SetProtocol(PROTOCOL);
    header.SetTtl(64);
    header.SetPayloadSize(static_cast<std::uint16_t>(packet->GetSize()));
    packet->AddHeader(header);
    return packet;
}

std::optional<CarrierPacket> CarrierPacket::Read(const ns3::Ptr<const ns3::Packet>& packet, std::uint32_t front)
{
    std::array<std::uint8_t, LONGEST_FRONT + IPV4_HEADER> bytes{};
    if (packet->CopyData(bytes.data(), front + IPV4_HEADER) < front + IPV4_HEADER)
    {
        return std::nullopt;
    }
    auto token = packet->Copy();
    token->RemoveAtStart(front + IPV4_HEADER);
    const auto slot = ReadToken(token);
    const auto* header = bytes.data() + front;
    if (!slot || header[TYPE_OF_SERVICE] == 0)
    {
        return std::nullopt;
    }
    return CarrierPacket{.slot = *slot,
                         .source = ns3::Ipv4Address::Deserialize(header + SOURCE),
                         .destination = ns3::Ipv4Address::Deserialize(header + DESTINATION),
                         .trafficClass = static_cast<ClassId>(header[TYPE_OF_SERVICE] - 1)};
}

} // namespace netboxit
