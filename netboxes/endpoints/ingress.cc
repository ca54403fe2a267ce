// SPDX-License-Identifier: GPL-2.0-or-later
#include "ingress.h"

#include "ns3/simulator.h"

#include <algorithm>

namespace netboxit
{

namespace
{

/// ns-3's caches forget no neighbour. Four times as many as Linux keeps (gc_thresh3).
constexpr std::size_t MOST_NEIGHBOURS = 4096;
/// Datagrams and fragments of each: 16 MiB at most.
constexpr std::size_t MOST_UNFINISHED = 256;
constexpr unsigned MOST_FRAGMENTS = 128;
/// RFC 1122, 3.3.2, as Linux and ns-3 have it.
constexpr std::int64_t REASSEMBLY_TIMEOUT = 30'000'000'000;

/// RFC 826.
constexpr std::size_t ARP_OPERATION = 6;
constexpr std::size_t ARP_TARGET = 24;
constexpr std::uint16_t ARP_REQUEST = 1;
/// What the addresses of solicited-node groups begin with.
constexpr std::array<std::uint8_t, 13> SOLICITED_NODE{0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x01, 0xff};

constexpr std::uint8_t TCP = 6;
constexpr std::uint8_t UDP = 17;
constexpr std::uint8_t ICMPV6 = 58;

/// Whether ns-3 can be given a packet of this protocol. To a group there is no TCP (RFC 9293, 3.9.2.3); and to other protocols of
/// IPv6 ns-3 answers what it cannot send.
bool IsForUsAs(std::uint8_t protocol, bool toUs, const IpAddress& destination)
{
    const bool toGroup = destination.isIpv6 ? destination.bytes[0] == 0xff : destination.bytes[0] >= 224;
    if (toGroup && protocol == TCP)
    {
        return false;
    }
    return !destination.isIpv6 || !(toUs || toGroup) || protocol == TCP || protocol == UDP || protocol == ICMPV6;
}

IpAddress AddressAt(Bytes packet, std::size_t at, bool isIpv6)
{
    IpAddress address{.isIpv6 = isIpv6};
    std::ranges::copy(packet.subspan(at, isIpv6 ? 16 : 4), address.bytes.begin());
    return address;
}

} // namespace

void HostIngress::AddAddress(const Prefix& address)
{
    m_addresses.push_back(address);
}

Finding HostIngress::Admit(std::uint16_t etherType, Bytes packet)
{
    if (IsQuestionToOthers(etherType, packet))
    {
        return Finding::OtherHost;
    }
    if (etherType == ether_type::ARP)
    {
        return Finding::Good;
    }
    const bool isIpv6 = etherType == ether_type::IPV6;
    // A host without an address of IPv6 has nothing that would take it, and ns-3 ends the process then.
    if (isIpv6 && std::ranges::none_of(m_addresses, [](const auto& own) { return own.address.isIpv6; }))
    {
        return Finding::Unsupported;
    }
    const auto source = AddressAt(packet, isIpv6 ? 8 : 12, isIpv6);
    const auto destination = AddressAt(packet, isIpv6 ? 24 : 16, isIpv6);
    if (IsOwn(source))
    {
        return Finding::Malformed;
    }
    const bool toUs = IsOwn(destination);
    if (!IsForUsAs(packet[isIpv6 ? 6 : 9], toUs, destination))
    {
        return Finding::Unsupported;
    }
    if (!KnowsNeighbour(source) || (!toUs && !KnowsNeighbour(destination)))
    {
        return Finding::OverLimit;
    }
    const bool isFragment = !isIpv6 && (BigEndian16(packet, 6) & 0x3fff) != 0;
    return isFragment && toUs && !HasRoomForFragment(packet) ? Finding::OverLimit : Finding::Good;
}

bool HostIngress::IsOwn(const IpAddress& address) const
{
    return std::ranges::any_of(m_addresses, [&](const auto& own) { return own.address == address; });
}

bool HostIngress::IsQuestionToOthers(std::uint16_t etherType, Bytes packet) const
{
    if (etherType == ether_type::ARP)
    {
        return BigEndian16(packet, ARP_OPERATION) == ARP_REQUEST && !IsOwn(AddressAt(packet, ARP_TARGET, false));
    }
    // To a solicited-node group (RFC 4291, 2.7.1) that has none of the host's addresses.
    return etherType == ether_type::IPV6 && std::ranges::equal(packet.subspan(24, SOLICITED_NODE.size()), SOLICITED_NODE) &&
           std::ranges::none_of(m_addresses, [&](const auto& own) {
               return own.address.isIpv6 && std::ranges::equal(packet.subspan(37, 3), Bytes(own.address.bytes).subspan(13, 3));
           });
}

bool HostIngress::KnowsNeighbour(const IpAddress& address)
{
    if (m_neighbours.contains(address) ||
        std::ranges::none_of(m_addresses, [&](const auto& own) { return own.Contains(address); }))
    {
        return true;
    }
    return m_neighbours.size() < MOST_NEIGHBOURS && m_neighbours.insert(address).second;
}

bool HostIngress::HasRoomForFragment(Bytes packet)
{
    const auto now = ns3::Simulator::Now().GetNanoSeconds();
    DatagramKey key;
    auto end = std::ranges::copy(packet.subspan(12, 8), key.begin()).out;
    end = std::ranges::copy(packet.subspan(4, 2), end).out;
    *end = packet[9];
    auto found = m_unfinished.find(key);
    if (found == m_unfinished.end())
    {
        if (m_unfinished.size() >= MOST_UNFINISHED)
        {
            std::erase_if(m_unfinished, [now](const auto& entry) { return now - entry.second.since > REASSEMBLY_TIMEOUT; });
        }
        if (m_unfinished.size() >= MOST_UNFINISHED)
        {
            return false;
        }
        found = m_unfinished.insert({key, {now, 0}}).first;
    }
    else if (now - found->second.since > REASSEMBLY_TIMEOUT)
    {
        found->second = {now, 0};
    }
    return ++found->second.fragments <= MOST_FRAGMENTS;
}

void HostIngress::Complete(const ns3::Ipv4Header& header)
{
    if (m_unfinished.empty())
    {
        return;
    }
    DatagramKey key;
    header.GetSource().Serialize(key.data());
    header.GetDestination().Serialize(key.data() + 4);
    key[8] = static_cast<std::uint8_t>(header.GetIdentification() >> 8);
    key[9] = static_cast<std::uint8_t>(header.GetIdentification());
    key[10] = header.GetProtocol();
    m_unfinished.erase(key);
}

} // namespace netboxit
