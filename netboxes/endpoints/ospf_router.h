// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "ospf_neighbour.h"

namespace netboxit
{

inline constexpr double LARGEST_OSPF_COST = 65535; ///< 16 bits (RFC 2328, A.4.2)

struct OspfInterfaceConfiguration
{
    std::size_t device; ///< of the host
    ospf::Id address;
    std::vector<ospf::Network> networks; ///< that it is in
    std::uint16_t mtu;
    std::uint16_t cost;
    std::optional<double> reference; ///< bit/s: the cost follows the rate that the netbox there tells, and is 1 at this one
    bool passive; ///< its networks are told of, and nobody is spoken to
    bool pointToPoint;
    std::int64_t hello, dead, retransmit; ///< ns
    std::optional<BfdConfiguration> bfd;
};

struct OspfConfiguration
{
    ospf::Id router;
    std::vector<OspfInterfaceConfiguration> interfaces;
    std::int64_t spfDelay, spfHold, spfMost; ///< FRRouting's `timers throttle spf`, ns
    std::int64_t lsaInterval;                ///< least time between two advertisements of its own, ns
    std::size_t neighbours;                  ///< it is ready when it has so many,
    std::vector<ospf::Network> networks;     ///< and knows how to reach these
};

/// A router's OSPF (version 2, RFC 2328; one area) and BFD (RFC 5880, 5881), with the timers of FRRouting.
class OspfRouter : public ospf::Neighbour::Surroundings
{
  public:
    /// The host that it is on.
    class Computer
    {
      public:
        virtual ~Computer() = default;
        /// Sends an IPv4 packet.
        virtual void SendPacket(std::size_t device, ns3::Mac48Address to, Bytes packet) = 0;
        /// Has it use these routes in the place of those before.
        virtual void UseRoutes(const ospf::Routes& before, const ospf::Routes& routes) = 0;
    };

    OspfRouter(OspfConfiguration configuration, Computer& computer, std::int64_t randomStream);

    /// An IPv4 packet that a device received: true when it was one of OSPF or BFD, and is none for anybody else.
    bool Receive(std::size_t device, ns3::Mac48Address from, Bytes packet);

    /// The device's wire has lost its carrier, or has it again.
    void SetCarrier(std::size_t device, bool carrier);

    /// The netbox at this device tells that the host's frames leave at this rate now, bit/s; 0: its link is down. Costs that follow it are
    /// as ospfd's `auto-cost` has them: the reference by the rate, rounded, from 1 to 65535.
    void TakeRate(std::size_t device, double rate);

    /// All neighbours are there, all networks are reached, and nothing has changed for a while.
    bool Ready() const;

    /// Neighbours by device and router, with their states.
    struct NeighbourState
    {
        std::size_t device;
        ospf::Id router;
        ospf::Neighbour::State state;
        bool bfd;
    };
    std::vector<NeighbourState> Neighbours() const;

    std::uint64_t Calculations() const
    {
        return m_calculations;
    }

  private:
    struct Interface
    {
        OspfInterfaceConfiguration configuration;
        bool carrier{true};
        Timer hello;
        std::map<ospf::Id, std::unique_ptr<ospf::Neighbour>> neighbours;
    };

    ospf::Id RouterId() const override;
    const ospf::Database& TheDatabase() const override;
    void SendTo(const ospf::Neighbour& neighbour, Bytes packet) override;
    void Changed(ospf::Neighbour& neighbour, ospf::Neighbour::State before) override;

    void SayHello(Interface& interface);
    void TakeHello(Interface& interface, const ospf::Message& message, ospf::Id address, ns3::Mac48Address from);
    void TakeOspf(Interface& interface, Bytes packet, ospf::Id address, ns3::Mac48Address from);
    void TakeBfd(Interface& interface, Bytes datagram, ospf::Id address);
    void TakeUpdate(ospf::Neighbour& from, const std::vector<ospf::Lsa>& all);
    void Lose(std::size_t interface, ospf::Id neighbour);
    void WatchByBfd(ospf::Neighbour& neighbour);
    /// Advertises what has changed of itself, when it may.
    void Originate();
    void Flood(const ospf::Lsa& lsa, const ospf::Neighbour* from);
    void Install(ospf::Lsa lsa, const ospf::Neighbour* from);
    void CalculateSoon();
    void Calculate();
    void Send(const Interface& interface, ospf::Id to, ns3::Mac48Address mac, std::uint8_t protocol, std::uint8_t ttl, Bytes payload);

    OspfConfiguration m_configuration;
    Computer& m_computer;
    ns3::Ptr<ns3::UniformRandomVariable> m_random;
    std::vector<std::unique_ptr<Interface>> m_interfaces;
    ospf::Database m_database;
    ospf::Routes m_routes;
    std::optional<std::int64_t> m_advertised; ///< when, ns
    Timer m_advertise;
    std::optional<std::int64_t> m_calculated; ///< when, ns
    std::int64_t m_hold{1};                   ///< times the least hold of FRRouting's
    Timer m_calculate;
    std::uint64_t m_calculations{0};
    std::uint16_t m_identification{0};
    std::uint32_t m_discriminator{0};
};

} // namespace netboxit
