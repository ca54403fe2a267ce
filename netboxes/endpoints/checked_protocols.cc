// SPDX-License-Identifier: GPL-2.0-or-later
#include "checked_protocols.h"

#include "frame_check.h"

#include "ns3/ipv4-header.h"
#include "ns3/ipv4-interface.h"
#include "ns3/ipv4-route.h"
#include "ns3/ipv6-header.h"
#include "ns3/ipv6-interface.h"
#include "ns3/ipv6-route.h"
#include "ns3/tcp-header.h"
#include "ns3/tcp-option-rfc793.h"

#include <algorithm>
#include <vector>

namespace netboxit
{

namespace
{

constexpr std::size_t LONGEST_TCP_HEADER = 60;
constexpr std::size_t UDP_HEADER = 8;
constexpr std::size_t TCP_FLAGS_AT = 13;
/// A neighbour discovery message without its options, and one that says nothing in place of them (RFC 3971, 5.3.2).
constexpr std::size_t NEIGHBOUR_MESSAGE = 24;
constexpr std::array<std::uint8_t, 8> NONCE{14, 1, 0, 0, 0, 0, 0, 0};

using Status = ns3::IpL4Protocol::RxStatus;

/// A copy of the first `most` bytes.
std::vector<std::uint8_t> Beginning(const ns3::Ptr<ns3::Packet>& packet, std::size_t most)
{
    std::vector<std::uint8_t> bytes(std::min<std::size_t>(packet->GetSize(), most));
    packet->CopyData(bytes.data(), static_cast<std::uint32_t>(bytes.size()));
    return bytes;
}

bool Count(DropCounts& drops, Finding finding)
{
    drops.malformed += finding == Finding::Malformed;
    drops.unsupported += finding == Finding::Unsupported;
    return finding == Finding::Good;
}

bool IsGoodUdp(DropCounts& drops, const ns3::Ptr<ns3::Packet>& packet)
{
    return Count(drops, CheckUdp(Beginning(packet, UDP_HEADER), packet->GetSize()));
}

bool IsGoodTcp(DropCounts& drops, const ns3::Ptr<ns3::Packet>& packet)
{
    return Count(drops, CheckTcp(Beginning(packet, LONGEST_TCP_HEADER)));
}

} // namespace

ns3::TypeId CheckedUdp::GetTypeId()
{
    static const auto type = ns3::TypeId("netboxit::CheckedUdp").SetParent<ns3::UdpL4Protocol>();
    return type;
}

CheckedUdp::CheckedUdp(DropCounts& drops) : m_drops(drops)
{
}

Status CheckedUdp::Receive(ns3::Ptr<ns3::Packet> packet,
                           const ns3::Ipv4Header& header,
                           ns3::Ptr<ns3::Ipv4Interface> interface)
{
    return IsGoodUdp(m_drops, packet) ? UdpL4Protocol::Receive(packet, header, interface) : RX_CSUM_FAILED;
}

Status CheckedUdp::Receive(ns3::Ptr<ns3::Packet> packet,
                           const ns3::Ipv6Header& header,
                           ns3::Ptr<ns3::Ipv6Interface> interface)
{
    return IsGoodUdp(m_drops, packet) ? UdpL4Protocol::Receive(packet, header, interface) : RX_CSUM_FAILED;
}

ns3::TypeId CheckedTcp::GetTypeId()
{
    static const auto type = ns3::TypeId("netboxit::CheckedTcp").SetParent<ns3::TcpL4Protocol>();
    return type;
}

CheckedTcp::CheckedTcp(DropCounts& drops) : m_drops(drops)
{
}

void CheckedTcp::SetMaximumSegmentSize(std::uint16_t size)
{
    m_maximumSegmentSize = size;
}

void CheckedTcp::Interpose()
{
    m_ipv4 = GetDownTarget();
    SetDownTarget(ns3::MakeCallback(&CheckedTcp::SendOverIpv4, this));
    if (!GetDownTarget6().IsNull())
    {
        m_ipv6 = GetDownTarget6();
        SetDownTarget6(ns3::MakeCallback(&CheckedTcp::SendOverIpv6, this));
    }
}

Status CheckedTcp::Receive(ns3::Ptr<ns3::Packet> packet,
                           const ns3::Ipv4Header& header,
                           ns3::Ptr<ns3::Ipv4Interface> interface)
{
    return IsGoodTcp(m_drops, packet) ? TcpL4Protocol::Receive(packet, header, interface) : RX_CSUM_FAILED;
}

Status CheckedTcp::Receive(ns3::Ptr<ns3::Packet> packet,
                           const ns3::Ipv6Header& header,
                           ns3::Ptr<ns3::Ipv6Interface> interface)
{
    return IsGoodTcp(m_drops, packet) ? TcpL4Protocol::Receive(packet, header, interface) : RX_CSUM_FAILED;
}

void CheckedTcp::SendOverIpv4(ns3::Ptr<ns3::Packet> segment,
                              ns3::Ipv4Address source,
                              ns3::Ipv4Address destination,
                              std::uint8_t protocol,
                              ns3::Ptr<ns3::Ipv4Route> route)
{
    Complete(segment, source, destination);
    m_ipv4(segment, source, destination, protocol, route);
}

void CheckedTcp::SendOverIpv6(ns3::Ptr<ns3::Packet> segment,
                              ns3::Ipv6Address source,
                              ns3::Ipv6Address destination,
                              std::uint8_t protocol,
                              ns3::Ptr<ns3::Ipv6Route> route)
{
    Complete(segment, source, destination);
    m_ipv6(segment, source, destination, protocol, route);
}

/// Gives a SYN segment the option, before those that it has, and a probe of a window of 0 the flag without which nobody reads it.
void CheckedTcp::Complete(const ns3::Ptr<ns3::Packet>& segment,
                          const ns3::Address& source,
                          const ns3::Address& destination) const
{
    std::array<std::uint8_t, TCP_FLAGS_AT + 1> beginning;
    segment->CopyData(beginning.data(), beginning.size());
    const bool isSyn = (beginning[TCP_FLAGS_AT] & ns3::TcpHeader::SYN) != 0;
    const bool isProbe = (beginning[TCP_FLAGS_AT] & (ns3::TcpHeader::SYN | ns3::TcpHeader::ACK | ns3::TcpHeader::RST)) == 0;
    if (!isSyn && !isProbe)
    {
        return;
    }
    ns3::TcpHeader old;
    segment->RemoveHeader(old);
    ns3::TcpHeader header;
    header.SetSourcePort(old.GetSourcePort());
    header.SetDestinationPort(old.GetDestinationPort());
    header.SetSequenceNumber(old.GetSequenceNumber());
    header.SetAckNumber(old.GetAckNumber());
    header.SetFlags(static_cast<std::uint8_t>(old.GetFlags() | (isProbe ? ns3::TcpHeader::ACK : 0)));
    header.SetWindowSize(old.GetWindowSize());
    if (isSyn)
    {
        const auto size = ns3::CreateObject<ns3::TcpOptionMSS>();
        size->SetMSS(m_maximumSegmentSize);
        header.AppendOption(size);
    }
    for (const auto& option : old.GetOptionList())
    {
        header.AppendOption(option); // leaves the end of the list to the header
    }
    header.EnableChecksums();
    header.InitializeChecksum(source, destination, PROT_NUMBER);
    segment->AddHeader(header);
}

void CheckedTcp::DoDispose()
{
    m_ipv4.Nullify();
    m_ipv6.Nullify();
    TcpL4Protocol::DoDispose();
}

ns3::TypeId CheckedIcmp::GetTypeId()
{
    static const auto type = ns3::TypeId("netboxit::CheckedIcmp").SetParent<ns3::Icmpv4L4Protocol>();
    return type;
}

CheckedIcmp::CheckedIcmp(DropCounts& drops) : m_drops(drops)
{
}

Status CheckedIcmp::Receive(ns3::Ptr<ns3::Packet> packet,
                            const ns3::Ipv4Header& header,
                            ns3::Ptr<ns3::Ipv4Interface> interface)
{
    const bool good = Count(m_drops, CheckIcmp(Beginning(packet, packet->GetSize())));
    return good ? Icmpv4L4Protocol::Receive(packet, header, interface) : RX_OK;
}

ns3::TypeId CheckedIcmpv6::GetTypeId()
{
    static const auto type = ns3::TypeId("netboxit::CheckedIcmpv6").SetParent<ns3::Icmpv6L4Protocol>();
    return type;
}

CheckedIcmpv6::CheckedIcmpv6(DropCounts& drops) : m_drops(drops)
{
}

Status CheckedIcmpv6::Receive(ns3::Ptr<ns3::Packet> packet,
                              const ns3::Ipv6Header& header,
                              ns3::Ptr<ns3::Ipv6Interface> interface)
{
    const auto message = Beginning(packet, packet->GetSize());
    std::array<std::uint8_t, 16> source;
    std::array<std::uint8_t, 16> destination;
    header.GetSource().Serialize(source.data());
    header.GetDestination().Serialize(destination.data());
    if (!Count(m_drops, CheckIcmpv6(message, source, destination, header.GetHopLimit())))
    {
        return RX_OK;
    }
    if (message[0] == ns3::Icmpv6Header::ICMPV6_ECHO_REQUEST)
    {
        return Icmpv6L4Protocol::Receive(packet, header, interface);
    }
    // ns-3 reads an option that may not be there, and never ends reading one that is there twice: it gets exactly one.
    const auto option = LinkLayerAddressOption(message);
    const auto readable = ns3::Create<ns3::Packet>(message.data(), NEIGHBOUR_MESSAGE);
    readable->AddAtEnd(ns3::Create<ns3::Packet>(option.empty() ? NONCE.data() : option.data(), NONCE.size()));
    return Icmpv6L4Protocol::Receive(readable, header, interface);
}

} // namespace netboxit
