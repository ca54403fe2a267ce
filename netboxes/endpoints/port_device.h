// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "frame_check.h"

#include "../engine/segment.h"

#include "ns3/mac48-address.h"
#include "ns3/net-device.h"
#include "ns3/node.h"

#include <functional>

namespace netboxit
{

class StationPort;

/// What an Ethernet frame has for a host, when its headers have been checked.
struct EthernetPacket
{
    ns3::Mac48Address source;
    ns3::Mac48Address destination;
    std::uint16_t etherType;
    Bytes bytes; ///< without the padding of the frame
};

/// An Ethernet interface of a host, at a station: Ethernet II frames, padded to the minimum as they leave, without a queue.
class PortDevice : public ns3::NetDevice
{
  public:
    /// What stands behind the frame check, and takes what is good.
    class Ingress
    {
      public:
        virtual ~Ingress() = default;
        virtual Finding Admit(std::uint16_t etherType, Bytes packet) = 0;
        /// Takes an admitted packet itself; false: it is for the Internet stack.
        virtual bool Divert(StationId station, ns3::Mac48Address from, std::uint16_t etherType, Bytes packet) = 0;
    };

    static ns3::TypeId GetTypeId();

    PortDevice(StationId station, StationPort& port, ns3::Mac48Address address, std::uint16_t mtu, Ingress& ingress);

    /// Without a carrier nothing leaves.
    void SetCarrier(bool carrier)
    {
        m_carrier = carrier;
    }

    /// Good: the host has it.
    Finding Take(const EthernetPacket& packet);

    void SetIfIndex(std::uint32_t index) override;
    std::uint32_t GetIfIndex() const override;
    ns3::Ptr<ns3::Channel> GetChannel() const override;
    void SetAddress(ns3::Address address) override;
    ns3::Address GetAddress() const override;
    bool SetMtu(std::uint16_t mtu) override;
    std::uint16_t GetMtu() const override;
    bool IsLinkUp() const override;
    void AddLinkChangeCallback(ns3::Callback<void> callback) override;
    bool IsBroadcast() const override;
    ns3::Address GetBroadcast() const override;
    bool IsMulticast() const override;
    ns3::Address GetMulticast(ns3::Ipv4Address group) const override;
    ns3::Address GetMulticast(ns3::Ipv6Address group) const override;
    bool IsBridge() const override;
    bool IsPointToPoint() const override;
    bool Send(ns3::Ptr<ns3::Packet> packet, const ns3::Address& destination, std::uint16_t etherType) override;
    bool SendFrom(ns3::Ptr<ns3::Packet> packet,
                  const ns3::Address& source,
                  const ns3::Address& destination,
                  std::uint16_t etherType) override;
    ns3::Ptr<ns3::Node> GetNode() const override;
    void SetNode(ns3::Ptr<ns3::Node> node) override;
    bool NeedsArp() const override;
    void SetReceiveCallback(ReceiveCallback callback) override;
    void SetPromiscReceiveCallback(PromiscReceiveCallback callback) override;
    bool SupportsSendFrom() const override;

  protected:
    void DoDispose() override;

  private:
    StationId m_station;
    StationPort& m_port;
    ns3::Mac48Address m_address;
    std::uint16_t m_mtu;
    Ingress& m_ingress;
    std::uint32_t m_index{0};
    bool m_carrier{true};
    ns3::Ptr<ns3::Node> m_node;
};

} // namespace netboxit
