// SPDX-License-Identifier: GPL-2.0-or-later
#include "ospf_configuration.h"

#include <algorithm>
#include <cmath>

namespace netboxit
{

namespace
{

constexpr double LONGEST_INTERVAL_S = 65535;
constexpr double NS = 1e9;

std::int64_t ReadSeconds(Section& section, const std::string& key, double otherwise, double least = 0)
{
    return std::llround(section.NumberOr(key, otherwise, least, LONGEST_INTERVAL_S) * NS);
}

ospf::Id Number(const IpAddress& address)
{
    return address.Ipv4().Get();
}

ospf::Network NetworkOf(const Prefix& prefix)
{
    const ospf::Id mask = prefix.length == 0 ? 0 : 0xffffffffU << (32 - prefix.length);
    return {Number(prefix.address) & mask, mask};
}

std::optional<BfdConfiguration> ReadBfd(const Json& json, const std::string& path)
{
    if (json.is_null())
    {
        return std::nullopt;
    }
    Section section(json, path);
    const BfdConfiguration bfd{ReadSeconds(section, "interval_s", 0.3, 1e-3),
                               static_cast<std::uint8_t>(section.NumberOr("multiplier", 3, 1, 255))};
    section.Finish();
    return bfd;
}

OspfInterfaceConfiguration ReadInterface(const Json& json, const std::string& path, std::size_t device, const InterfaceConfiguration& own)
{
    Section section(json, path);
    OspfInterfaceConfiguration interface{
        .device = device,
        .address = 0,
        .networks = {},
        .mtu = own.mtu,
        .cost = static_cast<std::uint16_t>(section.NumberOr("cost", 10, 0, LARGEST_OSPF_COST)),
        .reference = section.At("reference_bps").is_null() ? std::nullopt
                                                           : std::optional(section.NumberOr("reference_bps", 1e8, 1, 1e15)),
        .passive = !section.At("passive").is_null() && section.Truth("passive"),
        .pointToPoint = !section.At("point_to_point").is_null() && section.Truth("point_to_point"),
        .hello = ReadSeconds(section, "hello_s", 10, 1),
        .dead = ReadSeconds(section, "dead_s", 40, 1),
        .retransmit = ReadSeconds(section, "retransmit_s", 5, 1),
        .bfd = ReadBfd(section.At("bfd"), section.Path("bfd"))};
    section.Finish();
    for (const auto& prefix : own.addresses)
    {
        if (!prefix.address.isIpv6)
        {
            interface.address = interface.networks.empty() ? Number(prefix.address) : interface.address;
            interface.networks.push_back(NetworkOf(prefix));
        }
    }
    if (interface.networks.empty())
    {
        throw BadConfiguration(path + ": the interface has no address of IPv4, which OSPF version 2 is for");
    }
    return interface;
}

} // namespace

OspfConfiguration ReadOspf(const Json& json, const std::string& path, const std::vector<InterfaceConfiguration>& interfaces)
{
    Section section(json, path);
    OspfConfiguration ospf{.router = Number(ReadAddress(section.Text("router"), section.Path("router"))),
                           .interfaces = {},
                           .spfDelay = ReadSeconds(section, "spf_delay_s", 0),
                           .spfHold = ReadSeconds(section, "spf_hold_s", 0.05),
                           .spfMost = ReadSeconds(section, "spf_most_s", 5),
                           .lsaInterval = ReadSeconds(section, "lsa_interval_s", 5),
                           .neighbours = static_cast<std::size_t>(section.NumberOr("neighbours", 0, 0, 65535)),
                           .networks = {}};
    for (const auto& network : section.List("networks"))
    {
        if (!network.is_string())
        {
            section.Refuse("networks", "has " + network.dump() + R"(; write networks like "10.0.0.0/24")");
        }
        ospf.networks.push_back(NetworkOf(ReadPrefix(network, section.Path("networks"))));
    }
    const auto& spoken = section.At("interfaces");
    if (!spoken.is_object())
    {
        section.Refuse("interfaces", "is no object of interfaces by name");
    }
    for (const auto& [name, interface] : spoken.items())
    {
        const auto found = std::ranges::find(interfaces, name, &InterfaceConfiguration::name);
        if (found == interfaces.end())
        {
            section.Refuse("interfaces." + name, "the host has no such interface");
        }
        ospf.interfaces.push_back(ReadInterface(interface,
                                                section.Path("interfaces." + name),
                                                static_cast<std::size_t>(found - interfaces.begin()),
                                                *found));
    }
    section.Finish();
    return ospf;
}

} // namespace netboxit
