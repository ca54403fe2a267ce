// SPDX-License-Identifier: GPL-2.0-or-later
#include "port_device.h"

#include "station_port.h"

#include "ns3/channel.h"
#include "ns3/traffic-control-layer.h"

#include <algorithm>

namespace netboxit
{

namespace
{

/// IEEE 802.3, 3.2.8, without FCS.
constexpr std::size_t SMALLEST_FRAME = 60;
constexpr std::size_t LARGEST_FRAME = ETHERNET_HEADER + 65535;

ns3::NetDevice::PacketType TypeOf(const ns3::Mac48Address& destination)
{
    return destination.IsBroadcast() ? ns3::NetDevice::PACKET_BROADCAST
           : destination.IsGroup()   ? ns3::NetDevice::PACKET_MULTICAST
                                     : ns3::NetDevice::PACKET_HOST;
}

} // namespace

ns3::TypeId PortDevice::GetTypeId()
{
    static const auto type = ns3::TypeId("netboxit::PortDevice").SetParent<ns3::NetDevice>();
    return type;
}

PortDevice::PortDevice(StationId station,
                       StationPort& port,
                       ns3::Mac48Address address,
                       std::uint16_t mtu,
                       Ingress& ingress)
    : m_station(station), m_port(port), m_address(address), m_mtu(mtu), m_ingress(ingress)
{
}

Finding PortDevice::Take(const EthernetPacket& packet)
{
    if (const auto finding = m_ingress.Admit(packet.etherType, packet.bytes); finding != Finding::Good)
    {
        return finding;
    }
    if (m_ingress.Divert(m_station, packet.source, packet.etherType, packet.bytes))
    {
        return Finding::Good;
    }
    // Past ns3::Node, which takes packets from an event in its own context only, and forgets the kind of the destination.
    m_node->GetObject<ns3::TrafficControlLayer>()->Receive(
        this,
        ns3::Create<ns3::Packet>(packet.bytes.data(), static_cast<std::uint32_t>(packet.bytes.size())),
        packet.etherType,
        packet.source,
        packet.destination,
        TypeOf(packet.destination));
    return Finding::Good;
}

bool PortDevice::Send(ns3::Ptr<ns3::Packet> packet, const ns3::Address& destination, std::uint16_t etherType)
{
    return SendFrom(packet, m_address, destination, etherType);
}

bool PortDevice::SendFrom(ns3::Ptr<ns3::Packet> packet,
                          const ns3::Address& source,
                          const ns3::Address& destination,
                          std::uint16_t etherType)
{
    const std::size_t length = packet->GetSize();
    // ns-3 may answer a neighbour whose address it does not know yet.
    if (!m_carrier || length > m_mtu || !ns3::Mac48Address::IsMatchingType(destination))
    {
        m_port.CountSendDrop();
        return false;
    }
    // On the stack: what is sent may come back as another frame before this call is over.
    std::array<std::uint8_t, LARGEST_FRAME> room;
    auto* const frame = room.data();
    ns3::Mac48Address::ConvertFrom(destination).CopyTo(frame);
    ns3::Mac48Address::ConvertFrom(source).CopyTo(frame + 6);
    frame[12] = static_cast<std::uint8_t>(etherType >> 8);
    frame[13] = static_cast<std::uint8_t>(etherType);
    packet->CopyData(frame + ETHERNET_HEADER, static_cast<std::uint32_t>(length));
    auto size = ETHERNET_HEADER + length;
    if (size < SMALLEST_FRAME)
    {
        std::fill(frame + size, frame + SMALLEST_FRAME, std::uint8_t{0});
        size = SMALLEST_FRAME;
    }
    return m_port.Send(Bytes(frame, size));
}

void PortDevice::SetIfIndex(std::uint32_t index)
{
    m_index = index;
}

std::uint32_t PortDevice::GetIfIndex() const
{
    return m_index;
}

ns3::Ptr<ns3::Channel> PortDevice::GetChannel() const
{
    return nullptr;
}

void PortDevice::SetAddress(ns3::Address address)
{
    m_address = ns3::Mac48Address::ConvertFrom(address);
}

ns3::Address PortDevice::GetAddress() const
{
    return m_address;
}

bool PortDevice::SetMtu(std::uint16_t mtu)
{
    m_mtu = mtu;
    return true;
}

std::uint16_t PortDevice::GetMtu() const
{
    return m_mtu;
}

bool PortDevice::IsLinkUp() const
{
    return m_carrier;
}

void PortDevice::AddLinkChangeCallback(ns3::Callback<void>)
{
    // The host itself sets interfaces up and down.
}

bool PortDevice::IsBroadcast() const
{
    return true;
}

ns3::Address PortDevice::GetBroadcast() const
{
    return ns3::Mac48Address::GetBroadcast();
}

bool PortDevice::IsMulticast() const
{
    return true;
}

ns3::Address PortDevice::GetMulticast(ns3::Ipv4Address group) const
{
    return ns3::Mac48Address::GetMulticast(group);
}

ns3::Address PortDevice::GetMulticast(ns3::Ipv6Address group) const
{
    return ns3::Mac48Address::GetMulticast(group);
}

bool PortDevice::IsBridge() const
{
    return false;
}

bool PortDevice::IsPointToPoint() const
{
    return false;
}

ns3::Ptr<ns3::Node> PortDevice::GetNode() const
{
    return m_node;
}

void PortDevice::SetNode(ns3::Ptr<ns3::Node> node)
{
    m_node = node;
}

bool PortDevice::NeedsArp() const
{
    return true;
}

void PortDevice::SetReceiveCallback(ReceiveCallback)
{
    // See Receive().
}

void PortDevice::SetPromiscReceiveCallback(PromiscReceiveCallback)
{
    // Nobody listens to other hosts' packets.
}

bool PortDevice::SupportsSendFrom() const
{
    return true;
}

void PortDevice::DoDispose()
{
    m_node = nullptr;
    NetDevice::DoDispose();
}

} // namespace netboxit
