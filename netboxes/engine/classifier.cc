// SPDX-License-Identifier: GPL-2.0-or-later
#include "classifier.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

namespace netboxit
{

namespace
{

using Json = nlohmann::json;

unsigned ReadNumber(const Json& value, unsigned largest, const char* what)
{
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > largest)
    {
        throw std::invalid_argument(std::string(what) + " is " + value.dump() + ", not a number from 0 to " +
                                    std::to_string(largest));
    }
    return value.get<unsigned>();
}

std::vector<unsigned> ReadNumbers(const Json& value, unsigned largest, const char* what)
{
    if (!value.is_array() || value.empty())
    {
        throw std::invalid_argument(std::string(what) + " is " + value.dump() + ", not a list of numbers");
    }
    std::vector<unsigned> numbers;
    for (const auto& number : value)
    {
        numbers.push_back(ReadNumber(number, largest, what));
    }
    return numbers;
}

std::vector<unsigned> ReadProtocols(const Json& value)
{
    if (value == "udp")
    {
        return {17};
    }
    if (value == "tcp")
    {
        return {6};
    }
    if (value == "icmp")
    {
        return {1, 58};
    }
    if (value.is_string())
    {
        throw std::invalid_argument("protocol is " + value.dump() +
                                    R"(, not "udp", "tcp", "icmp" or a number)");
    }
    return {ReadNumber(value, 255, "protocol")};
}

std::vector<std::pair<unsigned, unsigned>> ReadPortRanges(const Json& value)
{
    if (!value.is_array() || value.empty())
    {
        throw std::invalid_argument("ports is " + value.dump() + ", not a list of [low, high]");
    }
    std::vector<std::pair<unsigned, unsigned>> ranges;
    for (const auto& range : value)
    {
        const auto ends = ReadNumbers(range, 65535, "ports");
        if (ends.size() != 2 || ends[0] > ends[1])
        {
            throw std::invalid_argument("ports has " + range.dump() + ", not [low, high]");
        }
        ranges.emplace_back(ends[0], ends[1]);
    }
    return ranges;
}

bool IsIn(const std::vector<unsigned>& list, unsigned value)
{
    return std::ranges::find(list, value) != list.end();
}

} // namespace

Classifier::Classifier(const Json& classes)
{
    for (const auto& item : classes)
    {
        if (!item.is_object() || !item.contains("name") || !item["name"].is_string())
        {
            throw std::invalid_argument("a class without a name: " + item.dump());
        }
        const auto name = item["name"].get<std::string>();
        try
        {
            if (name == "default")
            {
                throw std::invalid_argument(
                    "the name is taken: it stands for frames that match no other class");
            }
            m_rules.push_back(ReadRule(item.value("match", Json::object())));
            m_looksBehindIp |= !m_rules.back().ports.empty() || !m_rules.back().protocols.empty();
        }
        catch (const std::invalid_argument& error)
        {
            throw std::invalid_argument("class \"" + name + "\": " + error.what());
        }
        m_names.push_back(name);
    }
    m_names.emplace_back("default");
}

Classifier::Rule Classifier::ReadRule(const Json& match)
{
    Rule rule;
    if (!match.is_object())
    {
        throw std::invalid_argument("match is not an object");
    }
    for (const auto& [condition, value] : match.items())
    {
        if (condition == "dscp")
        {
            rule.dscp = ReadNumbers(value, 63, "dscp");
        }
        else if (condition == "protocol")
        {
            rule.protocols = ReadProtocols(value);
        }
        else if (condition == "ports")
        {
            rule.ports = ReadPortRanges(value);
        }
        else if (condition == "ether_type")
        {
            rule.etherTypes = ReadNumbers(value, 65535, "ether_type");
        }
        else if (condition == "source" || condition == "destination")
        {
            auto& network = condition == "source" ? rule.source : rule.destination;
            network = ReadNetwork(value.is_string() ? value.get<std::string>() : value.dump());
        }
        else
        {
            throw std::invalid_argument(
                "no condition is called \"" + condition +
                "\": there are dscp, protocol, ports, ether_type, source, destination");
        }
    }
    return rule;
}

Classifier::Network Classifier::ReadNetwork(const std::string& text)
{
    const auto slash = text.find('/');
    const auto address = text.substr(0, slash);
    Network network;
    if (inet_pton(AF_INET, address.c_str(), network.address.data()) == 1)
    {
        network.bytes = 4;
    }
    else if (inet_pton(AF_INET6, address.c_str(), network.address.data()) == 1)
    {
        network.bytes = 16;
    }
    network.bits = static_cast<unsigned>(network.bytes * 8);
    bool whole = true;
    if (slash != std::string::npos)
    {
        const char* end = text.data() + text.size();
        const auto [stop, error] = std::from_chars(text.data() + slash + 1, end, network.bits);
        whole = error == std::errc() && stop == end;
    }
    if (network.bytes == 0 || !whole || network.bits > network.bytes * 8)
    {
        throw std::invalid_argument("\"" + text + "\" is no IPv4 or IPv6 network such as 10.1.0.0/16");
    }
    return network;
}

ClassId Classifier::ClassOf(const Headers& headers) const
{
    const auto rule =
        std::ranges::find_if(m_rules, [&](const Rule& candidate) { return Holds(candidate, headers); });
    return static_cast<ClassId>(rule - m_rules.begin());
}

ClassId Classifier::ClassOfFragment(const Headers& headers, StationId from, std::int64_t now)
{
    if (headers.ip->part == Part::LaterFragment)
    {
        const auto known = m_fragments.Find(*headers.ip, from, now);
        return known ? *known : ClassOf(headers);
    }
    const auto trafficClass = ClassOf(headers);
    m_fragments.Remember(*headers.ip, from, now, trafficClass);
    return trafficClass;
}

bool Classifier::Holds(const Rule& rule, const Headers& headers)
{
    if (!rule.etherTypes.empty() && !IsIn(rule.etherTypes, headers.etherType))
    {
        return false;
    }
    if (rule.dscp.empty() && rule.protocols.empty() && rule.ports.empty() && !rule.source &&
        !rule.destination)
    {
        return true;
    }
    if (!headers.ip)
    {
        return false;
    }
    const auto& ip = *headers.ip;
    const auto inRanges = [&](unsigned port)
    {
        return std::ranges::any_of(rule.ports,
                                   [=](auto range) { return range.first <= port && port <= range.second; });
    };
    return (rule.dscp.empty() || IsIn(rule.dscp, ip.Dscp())) &&
           (rule.protocols.empty() || (ip.protocol && IsIn(rule.protocols, *ip.protocol))) &&
           (rule.ports.empty() ||
            (ip.hasPorts && (inRanges(ip.sourcePort) || inRanges(ip.destinationPort)))) &&
           (!rule.source || Contains(*rule.source, ip.source)) &&
           (!rule.destination || Contains(*rule.destination, ip.destination));
}

bool Classifier::Contains(const Network& network, Bytes address)
{
    if (address.size() != network.bytes)
    {
        return false;
    }
    const unsigned whole = network.bits / 8;
    const unsigned mask = 0xff00u >> network.bits % 8 & 0xffu;
    return std::equal(address.begin(), address.begin() + whole, network.address.begin()) &&
           (mask == 0 || ((address[whole] ^ network.address[whole]) & mask) == 0);
}

} // namespace netboxit
