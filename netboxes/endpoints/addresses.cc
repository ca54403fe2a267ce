// SPDX-License-Identifier: GPL-2.0-or-later
#include "addresses.h"

#include "ns3/inet-socket-address.h"
#include "ns3/inet6-socket-address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace netboxit
{

ns3::Ipv4Address IpAddress::Ipv4() const
{
    return ns3::Ipv4Address::Deserialize(bytes.data());
}

ns3::Ipv6Address IpAddress::Ipv6() const
{
    return ns3::Ipv6Address::Deserialize(bytes.data());
}

ns3::Address IpAddress::Socket(std::uint16_t port) const
{
    return isIpv6 ? ns3::Address(ns3::Inet6SocketAddress(Ipv6(), port)) : ns3::InetSocketAddress(Ipv4(), port);
}

bool Prefix::Contains(const IpAddress& other) const
{
    if (other.isIpv6 != address.isIpv6)
    {
        return false;
    }
    for (unsigned bit = 0; bit < length; bit += 8)
    {
        const auto mask = static_cast<std::uint8_t>(length - bit >= 8 ? 0xff : 0xff00 >> (length - bit));
        if (((address.bytes[bit / 8] ^ other.bytes[bit / 8]) & mask) != 0)
        {
            return false;
        }
    }
    return true;
}

IpAddress ReadAddress(const std::string& text, const std::string& place)
{
    IpAddress address;
    if (inet_pton(AF_INET, text.c_str(), address.bytes.data()) == 1)
    {
        return address;
    }
    address.isIpv6 = true;
    if (inet_pton(AF_INET6, text.c_str(), address.bytes.data()) == 1)
    {
        return address;
    }
    throw std::invalid_argument(place + ": \"" + text +
                                "\" is not an IP address; write one like 10.0.0.1 or fd00::1");
}

Prefix ReadPrefix(const std::string& text, const std::string& place)
{
    const auto slash = text.find('/');
    Prefix prefix{ReadAddress(text.substr(0, slash), place), 0};
    const auto* const end = text.data() + text.size();
    const auto number = slash == std::string::npos ? std::from_chars_result{end, std::errc::invalid_argument}
                                                   : std::from_chars(text.data() + slash + 1, end, prefix.length);
    if (number.ec != std::errc{} || number.ptr != end || prefix.length > (prefix.address.isIpv6 ? 128 : 32))
    {
        throw std::invalid_argument(place + ": \"" + text + "\" has no prefix length; write it like " +
                                    (prefix.address.isIpv6 ? "fd00::1/64" : "10.0.0.1/24"));
    }
    return prefix;
}

middleware::HostAddress HostAddressOf(const IpAddress& address)
{
    return address.isIpv6 ? address.bytes : middleware::Ipv4Address(address.Ipv4().Get(), 0).host;
}

IpAddress IpAddressOf(const middleware::HostAddress& address)
{
    IpAddress made;
    made.isIpv6 = !middleware::IsIpv4(address);
    std::copy(address.begin() + (made.isIpv6 ? 0 : middleware::IPV4_MAPPED_BITS / 8), address.end(), made.bytes.begin());
    return made;
}

} // namespace netboxit
