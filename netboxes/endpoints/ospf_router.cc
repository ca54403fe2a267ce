// SPDX-License-Identifier: GPL-2.0-or-later
#include "ospf_router.h"

#include "frame_check.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace netboxit
{

using ospf::Id;
using ospf::Neighbour;

namespace
{

constexpr std::uint8_t OSPF = 89;
constexpr std::uint8_t UDP = 17;
constexpr std::uint16_t BFD_PORT = 3784;        ///< RFC 5881, 4
constexpr std::uint16_t BFD_SOURCE_PORT = 49152; ///< the first of those that RFC 5881 permits
constexpr std::uint8_t BFD_TTL = 255;           ///< RFC 5881, 5
constexpr std::size_t IP_HEADER = 20;
constexpr std::size_t UDP_HEADER = 8;
constexpr std::uint8_t INTERNETWORK_CONTROL = 0xc0; ///< precedence (RFC 791; RFC 2328, A.1): CS6
constexpr Id ALL_ROUTERS = 0xe0000005;             ///< 224.0.0.5
constexpr std::size_t MOST_NEIGHBOURS = 256;       ///< of an interface
/// An advertisement that crosses the network, and the calculation after it: frr_node.py waits so long for labs.
constexpr std::int64_t SETTLED = 1'000'000'000;

ns3::Mac48Address AllRouters()
{
    return ns3::Mac48Address("01:00:5e:00:00:05"); // RFC 1112, 6.4
}

std::int64_t Now()
{
    return ns3::Simulator::Now().GetNanoSeconds();
}

} // namespace

OspfRouter::OspfRouter(OspfConfiguration configuration, Computer& computer, std::int64_t randomStream)
    : m_configuration(std::move(configuration)), m_computer(computer),
      m_random(ns3::CreateObject<ns3::UniformRandomVariable>())
{
    m_random->SetStream(randomStream);
    for (const auto& own : m_configuration.interfaces)
    {
        auto& interface = *m_interfaces.emplace_back(std::make_unique<Interface>());
        interface.configuration = own;
        if (!own.passive)
        {
            // Routers were not all started at one instant.
            const auto first = static_cast<std::int64_t>(m_random->GetValue(0.0, static_cast<double>(own.hello)));
            interface.hello.Set(first, [this, &interface] { SayHello(interface); });
        }
    }
    Originate();
}

Id OspfRouter::RouterId() const
{
    return m_configuration.router;
}

const ospf::Database& OspfRouter::TheDatabase() const
{
    return m_database;
}

void OspfRouter::Send(const Interface& interface,
                      Id to,
                      ns3::Mac48Address mac,
                      std::uint8_t protocol,
                      std::uint8_t ttl,
                      Bytes payload)
{
    BigEndianWriter packet;
    packet.Put(0x45, 1);
    packet.Put(INTERNETWORK_CONTROL, 1);
    packet.Put(IP_HEADER + payload.size(), 2);
    packet.Put(m_identification++, 2);
    packet.Put(0, 2);
    packet.Put(ttl, 1);
    packet.Put(protocol, 1);
    packet.Put(0, 2);
    packet.Put(interface.configuration.address, 4);
    packet.Put(to, 4);
    packet.Set16(10, InternetChecksum({packet.Written()}));
    packet.Put(payload);
    m_computer.SendPacket(interface.configuration.device, mac, packet.Written());
}

void OspfRouter::SendTo(const Neighbour& neighbour, Bytes packet)
{
    const auto& interface = *m_interfaces[neighbour.Interface()];
    const bool toAll = interface.configuration.pointToPoint; // RFC 2328, 8.1
    Send(interface, toAll ? ALL_ROUTERS : neighbour.address, toAll ? AllRouters() : neighbour.mac, OSPF, 1, packet);
}

void OspfRouter::SayHello(Interface& interface)
{
    const auto& own = interface.configuration;
    ospf::Hello hello{.mask = own.networks.front().mask,
                      .interval = static_cast<std::uint32_t>(own.hello / 1'000'000'000),
                      .dead = static_cast<std::uint32_t>(own.dead / 1'000'000'000),
                      .neighbours = {}};
    for (const auto& [id, neighbour] : interface.neighbours)
    {
        hello.neighbours.push_back(id);
    }
    Send(interface, ALL_ROUTERS, AllRouters(), OSPF, 1, ospf::Write(RouterId(), hello));
    interface.hello.Set(own.hello, [this, &interface] { SayHello(interface); });
}

bool OspfRouter::Receive(std::size_t device, ns3::Mac48Address from, Bytes packet)
{
    const auto found = std::ranges::find(m_interfaces, device, [](const auto& own) { return own->configuration.device; });
    if (found == m_interfaces.end())
    {
        return false;
    }
    auto& interface = **found;
    BigEndianReader header(packet.first(IP_HEADER));
    header.Take(6);
    const auto fragment = header.Get(2) & 0x3fffU;
    const auto ttl = header.Get(1);
    const auto protocol = header.Get(1);
    header.Take(2);
    const auto source = header.Get(4);
    const auto destination = header.Get(4);
    const auto payload = packet.subspan(IP_HEADER);
    const bool toUs = destination == interface.configuration.address;
    const bool isOspf = protocol == OSPF && (toUs || destination == ALL_ROUTERS);
    const bool isBfd = protocol == UDP && toUs && fragment == 0 && payload.size() >= UDP_HEADER &&
                       BigEndian16(payload, 2) == BFD_PORT;
    if (interface.configuration.passive || !interface.carrier || fragment != 0)
    {
        return isOspf || isBfd;
    }
    if (isOspf)
    {
        TakeOspf(interface, payload, source, from);
    }
    else if (isBfd && ttl == BFD_TTL && BigEndian16(payload, 4) == payload.size())
    {
        TakeBfd(interface, payload.subspan(UDP_HEADER), source);
    }
    return isOspf || isBfd;
}

void OspfRouter::TakeOspf(Interface& interface, Bytes packet, Id address, ns3::Mac48Address from)
{
    const auto message = ospf::ReadMessage(packet);
    if (!message || message->router == RouterId())
    {
        return;
    }
    if (message->kind == ospf::Kind::Hello)
    {
        TakeHello(interface, *message, address, from);
        return;
    }
    const auto found = interface.neighbours.find(message->router);
    if (found == interface.neighbours.end())
    {
        return;
    }
    auto& neighbour = *found->second;
    switch (message->kind)
    {
    case ospf::Kind::Hello:
        break;
    case ospf::Kind::Description:
        if (const auto description = ospf::ReadDescription(message->body))
        {
            neighbour.Take(*description);
        }
        break;
    case ospf::Kind::Request:
        neighbour.TakeRequest(ospf::ReadRequest(message->body));
        break;
    case ospf::Kind::Update:
        TakeUpdate(neighbour, ospf::ReadUpdate(message->body));
        break;
    case ospf::Kind::Acknowledgement:
        neighbour.TakeAcknowledgement(ospf::ReadAcknowledgement(message->body));
        break;
    }
}

void OspfRouter::TakeHello(Interface& interface, const ospf::Message& message, Id address, ns3::Mac48Address from)
{
    const auto& own = interface.configuration;
    const auto hello = ospf::ReadHello(message.body);
    // RFC 2328, 10.5.
    if (!hello || hello->interval * 1'000'000'000LL != own.hello || hello->dead * 1'000'000'000LL != own.dead ||
        (address & own.networks.front().mask) != own.networks.front().address)
    {
        return;
    }
    if (!interface.neighbours.contains(message.router))
    {
        if (interface.neighbours.size() >= MOST_NEIGHBOURS)
        {
            return;
        }
        const auto number = static_cast<std::size_t>(
            std::ranges::find(m_interfaces, &interface, [](const auto& one) { return one.get(); }) - m_interfaces.begin());
        interface.neighbours[message.router] =
            std::make_unique<Neighbour>(*this, message.router, number, own.mtu, own.retransmit);
    }
    auto& neighbour = *interface.neighbours.at(message.router);
    neighbour.address = address;
    neighbour.mac = from;
    neighbour.inactivity.Set(own.dead, [this, number = neighbour.Interface(), id = message.router] { Lose(number, id); });
    neighbour.Hear(std::ranges::find(hello->neighbours, RouterId()) != hello->neighbours.end());
}

void OspfRouter::TakeBfd(Interface& interface, Bytes datagram, Id address)
{
    for (const auto& [id, neighbour] : interface.neighbours)
    {
        if (neighbour->address == address && neighbour->bfd)
        {
            neighbour->bfd->Receive(datagram);
            return; // it may be gone
        }
    }
}

void OspfRouter::TakeUpdate(Neighbour& from, const std::vector<ospf::Lsa>& all)
{
    if (from.TheState() < Neighbour::State::Exchange)
    {
        return;
    }
    std::vector<ospf::LsaHeader> acknowledged;
    std::vector<Id> newerHere;
    for (const auto& lsa : all)
    {
        const auto& header = lsa.header;
        const auto* const known = m_database.Find(header.router);
        if (known != nullptr && IsNewer(known->header, header))
        {
            newerHere.push_back(header.router); // RFC 2328, 13, (8)
            continue;
        }
        acknowledged.push_back(header);
        if (known != nullptr && known->header == header)
        {
            from.TakeAcknowledgement({header});
        }
        else if (header.router == RouterId())
        {
            // From before it was started anew: its own goes beyond that (13.4).
            m_database.Install(lsa);
            Originate();
        }
        else
        {
            Install(lsa, &from);
        }
        from.HasSent(header);
    }
    if (!acknowledged.empty())
    {
        SendTo(from, ospf::WriteAcknowledgement(RouterId(), acknowledged));
    }
    std::vector<const ospf::Lsa*> back;
    for (const auto router : newerHere)
    {
        back.push_back(m_database.Find(router));
    }
    from.Send(back);
}

void OspfRouter::Install(ospf::Lsa lsa, const Neighbour* from)
{
    const auto router = lsa.header.router;
    if (m_database.Install(std::move(lsa)))
    {
        Flood(*m_database.Find(router), from);
        CalculateSoon();
    }
}

void OspfRouter::Flood(const ospf::Lsa& lsa, const Neighbour* from)
{
    for (const auto& interface : m_interfaces)
    {
        bool somebody = false;
        for (const auto& [id, neighbour] : interface->neighbours)
        {
            somebody |= neighbour.get() != from && neighbour->Owe(lsa.header);
        }
        if (somebody)
        {
            std::vector<const ospf::Lsa*> all{&lsa};
            Send(*interface, ALL_ROUTERS, AllRouters(), OSPF, 1, ospf::WriteUpdate(RouterId(), all, interface->configuration.mtu));
        }
    }
}

void OspfRouter::Changed(Neighbour& neighbour, Neighbour::State before)
{
    if (neighbour.TheState() == Neighbour::State::Init)
    {
        neighbour.bfd.reset();
    }
    else if (before == Neighbour::State::Init)
    {
        WatchByBfd(neighbour);
    }
    if (neighbour.TheState() == Neighbour::State::Full || before == Neighbour::State::Full)
    {
        Originate();
    }
}

void OspfRouter::WatchByBfd(Neighbour& neighbour)
{
    const auto& interface = *m_interfaces[neighbour.Interface()];
    if (!interface.configuration.bfd)
    {
        return;
    }
    const auto send = [this, &interface, &neighbour](Bytes packet)
    {
        BigEndianWriter datagram;
        datagram.Put(BFD_SOURCE_PORT, 2);
        datagram.Put(BFD_PORT, 2);
        datagram.Put(UDP_HEADER + packet.size(), 2);
        datagram.Put(0, 2); // no checksum (RFC 768)
        datagram.Put(packet);
        Send(interface, neighbour.address, neighbour.mac, UDP, BFD_TTL, datagram.Written());
    };
    const auto failed = [this, number = neighbour.Interface(), id = neighbour.RouterId()] { Lose(number, id); };
    neighbour.bfd = std::make_unique<BfdSession>(
        *interface.configuration.bfd, ++m_discriminator, BfdSession::Surroundings{m_random, send, failed});
}

void OspfRouter::Lose(std::size_t interface, Id neighbour)
{
    m_interfaces[interface]->neighbours.erase(neighbour);
    Originate();
}

void OspfRouter::SetCarrier(std::size_t device, bool carrier)
{
    for (const auto& interface : m_interfaces)
    {
        if (interface->configuration.device != device || interface->carrier == carrier)
        {
            continue;
        }
        interface->carrier = carrier;
        interface->hello.Stop();
        interface->neighbours.clear();
        if (carrier && !interface->configuration.passive)
        {
            SayHello(*interface);
        }
        Originate();
        CalculateSoon();
    }
}

void OspfRouter::TakeRate(std::size_t device, double rate)
{
    for (auto& interface : m_interfaces)
    {
        auto& own = interface->configuration;
        if (own.device != device || !own.reference)
        {
            continue;
        }
        const double ratio = rate > 0 ? std::round(*own.reference / rate) : LARGEST_OSPF_COST;
        const auto cost = static_cast<std::uint16_t>(std::clamp(ratio, 1.0, LARGEST_OSPF_COST));
        if (std::exchange(own.cost, cost) != cost)
        {
            Originate();
            CalculateSoon();
        }
    }
}

void OspfRouter::Originate()
{
    const auto now = Now();
    if (m_advertised && now - *m_advertised < m_configuration.lsaInterval)
    {
        if (!m_advertise.IsSet())
        {
            m_advertise.Set(*m_advertised + m_configuration.lsaInterval - now, [this] { Originate(); });
        }
        return;
    }
    std::vector<ospf::Link> links;
    for (const auto& interface : m_interfaces)
    {
        const auto& own = interface->configuration;
        for (const auto& [id, neighbour] : interface->neighbours)
        {
            if (neighbour->TheState() == Neighbour::State::Full)
            {
                links.push_back({id, own.address, ospf::LinkKind::PointToPoint, own.cost});
            }
        }
        for (const auto& network : own.networks)
        {
            if (interface->carrier)
            {
                links.push_back({network.address, network.mask, ospf::LinkKind::Stub, own.cost});
            }
        }
    }
    const auto* const before = m_database.Find(RouterId());
    if (before != nullptr && before->links == links)
    {
        return;
    }
    m_advertised = now;
    const auto sequence = before == nullptr ? ospf::FIRST_SEQUENCE : before->header.sequence + 1;
    Install(ospf::MakeLsa(RouterId(), sequence, std::move(links)), nullptr);
}

void OspfRouter::CalculateSoon()
{
    if (m_calculate.IsSet())
    {
        return;
    }
    // As FRRouting's ospfd schedules its calculations (`timers throttle spf`): the wait grows while changes follow one another.
    const auto elapsed = m_calculated ? Now() - *m_calculated : m_configuration.spfMost + 1;
    const auto hold = std::min(m_hold * m_configuration.spfHold, m_configuration.spfMost);
    auto wait = m_configuration.spfDelay;
    if (elapsed < hold)
    {
        m_hold += hold < m_configuration.spfMost ? 1 : 0;
        wait = std::max(wait, hold - elapsed);
    }
    else
    {
        m_hold = 1;
    }
    m_calculate.Set(wait, [this] { Calculate(); });
}

void OspfRouter::Calculate()
{
    m_calculated = Now();
    ++m_calculations;
    std::vector<ospf::Adjacency> adjacencies;
    for (std::size_t number = 0; number < m_interfaces.size(); ++number)
    {
        const auto& interface = *m_interfaces[number];
        for (const auto& [id, neighbour] : interface.neighbours)
        {
            if (neighbour->TheState() == Neighbour::State::Full)
            {
                adjacencies.push_back({id, neighbour->address, interface.configuration.device, interface.configuration.cost});
            }
        }
    }
    auto routes = m_database.Calculate(RouterId(), adjacencies);
    for (const auto& interface : m_interfaces)
    {
        for (const auto& network : interface->configuration.networks)
        {
            if (interface->carrier)
            {
                routes.erase(network);
            }
        }
    }
    if (routes != m_routes)
    {
        const auto before = std::exchange(m_routes, std::move(routes));
        m_computer.UseRoutes(before, m_routes);
    }
}

bool OspfRouter::Ready() const
{
    std::size_t neighbours = 0;
    for (const auto& interface : m_interfaces)
    {
        for (const auto& [id, neighbour] : interface->neighbours)
        {
            neighbours += neighbour->TheState() == Neighbour::State::Full;
            if (neighbour->Unconfirmed() > 0)
            {
                return false;
            }
        }
    }
    const auto isReached = [this](const auto& network)
    {
        return m_routes.contains(network) ||
               std::ranges::any_of(m_interfaces,
                                   [&](const auto& own) {
                                       const auto& networks = own->configuration.networks;
                                       return std::ranges::find(networks, network) != networks.end();
                                   });
    };
    return neighbours >= m_configuration.neighbours && std::ranges::all_of(m_configuration.networks, isReached) && m_calculated &&
           Now() - *m_calculated > m_configuration.lsaInterval + SETTLED;
}

std::vector<OspfRouter::NeighbourState> OspfRouter::Neighbours() const
{
    std::vector<NeighbourState> all;
    for (const auto& interface : m_interfaces)
    {
        for (const auto& [id, neighbour] : interface->neighbours)
        {
            all.push_back({interface->configuration.device, id, neighbour->TheState(), neighbour->bfd && neighbour->bfd->IsUp()});
        }
    }
    return all;
}

} // namespace netboxit
