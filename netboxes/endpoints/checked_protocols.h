// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "ns3/icmpv4-l4-protocol.h"
#include "ns3/icmpv6-l4-protocol.h"
#include "ns3/tcp-l4-protocol.h"
#include "ns3/udp-l4-protocol.h"

#include <cstdint>

namespace netboxit
{

/// What a host's transport protocols dropped before ns-3 parsed it.
struct DropCounts
{
    std::uint64_t malformed{};
    std::uint64_t unsupported{};
};

/// ns-3's UDP, for datagrams whose length is right.
class CheckedUdp : public ns3::UdpL4Protocol
{
  public:
    static ns3::TypeId GetTypeId();

    explicit CheckedUdp(DropCounts& drops);

    RxStatus Receive(ns3::Ptr<ns3::Packet> packet,
                     const ns3::Ipv4Header& header,
                     ns3::Ptr<ns3::Ipv4Interface> interface) override;
    RxStatus Receive(ns3::Ptr<ns3::Packet> packet,
                     const ns3::Ipv6Header& header,
                     ns3::Ptr<ns3::Ipv6Interface> interface) override;

  private:
    DropCounts& m_drops;
};

/// ns-3's TCP, for segments whose header can be read; and with what ns-3 leaves out: the option maximum segment size
/// (RFC 9293, 3.7.1), and ACK in probes of a window of 0.
class CheckedTcp : public ns3::TcpL4Protocol
{
  public:
    static ns3::TypeId GetTypeId();

    explicit CheckedTcp(DropCounts& drops);

    /// Of the SYN segments that leave from now on.
    void SetMaximumSegmentSize(std::uint16_t size);
    /// Once the protocol is in its host's node.
    void Interpose();

    RxStatus Receive(ns3::Ptr<ns3::Packet> packet,
                     const ns3::Ipv4Header& header,
                     ns3::Ptr<ns3::Ipv4Interface> interface) override;
    RxStatus Receive(ns3::Ptr<ns3::Packet> packet,
                     const ns3::Ipv6Header& header,
                     ns3::Ptr<ns3::Ipv6Interface> interface) override;

  protected:
    void DoDispose() override;

  private:
    void SendOverIpv4(ns3::Ptr<ns3::Packet> segment,
                      ns3::Ipv4Address source,
                      ns3::Ipv4Address destination,
                      std::uint8_t protocol,
                      ns3::Ptr<ns3::Ipv4Route> route);
    void SendOverIpv6(ns3::Ptr<ns3::Packet> segment,
                      ns3::Ipv6Address source,
                      ns3::Ipv6Address destination,
                      std::uint8_t protocol,
                      ns3::Ptr<ns3::Ipv6Route> route);
    void Complete(const ns3::Ptr<ns3::Packet>& segment, const ns3::Address& source, const ns3::Address& destination) const;

    DropCounts& m_drops;
    std::uint16_t m_maximumSegmentSize{536};
    DownTargetCallback m_ipv4;
    DownTargetCallback6 m_ipv6;
};

/// ns-3's ICMP: answers echo requests. It does not look at checksums itself.
class CheckedIcmp : public ns3::Icmpv4L4Protocol
{
  public:
    static ns3::TypeId GetTypeId();

    explicit CheckedIcmp(DropCounts& drops);

    RxStatus Receive(ns3::Ptr<ns3::Packet> packet,
                     const ns3::Ipv4Header& header,
                     ns3::Ptr<ns3::Ipv4Interface> interface) override;

  private:
    DropCounts& m_drops;
};

/// ns-3's ICMPv6: answers echo requests and resolves neighbours' addresses. Routers' messages are not for a configured host.
class CheckedIcmpv6 : public ns3::Icmpv6L4Protocol
{
  public:
    static ns3::TypeId GetTypeId();

    explicit CheckedIcmpv6(DropCounts& drops);

    using ns3::Icmpv6L4Protocol::Receive;
    RxStatus Receive(ns3::Ptr<ns3::Packet> packet,
                     const ns3::Ipv6Header& header,
                     ns3::Ptr<ns3::Ipv6Interface> interface) override;

  private:
    DropCounts& m_drops;
};

} // namespace netboxit
