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

/// A station as an Ethernet interface of a host: Ethernet II frames, padded to the minimum as they leave, without a queue.
class PortDevice : public ns3::NetDevice
{
  public:
    struct Counters
    {
        std::uint64_t received{};
        std::uint64_t receivedBytes{}; ///< with FCS, as all bytes here
        std::uint64_t sent{};
        std::uint64_t sentBytes{};
        std::uint64_t sendDrops{};   ///< the netbox was full, the frame longer than its port's MTU, or no carrier
        std::uint64_t otherHost{};   ///< for another MAC address
        std::uint64_t malformed{};
        std::uint64_t unsupported{};
        std::uint64_t overLimit{};   ///< a table of the host was full
    };

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

    PortDevice(StationId station, Frames& frames, ns3::Mac48Address address, std::uint16_t mtu, Ingress& ingress);

    /// Without a carrier nothing leaves.
    void SetCarrier(bool carrier)
    {
        m_carrier = carrier;
    }

    /// A frame that came in at the port.
    void Receive(Bytes frame);

    const Counters& Count() const
    {
        return m_counters;
    }

    void Reset()
    {
        m_counters = {};
    }

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
    bool Count(Finding finding);

    StationId m_station;
    Frames& m_frames;
    ns3::Mac48Address m_address;
    std::uint16_t m_mtu;
    Ingress& m_ingress;
    std::uint32_t m_index{0};
    bool m_carrier{true};
    ns3::Ptr<ns3::Node> m_node;
    Counters m_counters;
};

} // namespace netboxit
