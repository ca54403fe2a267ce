// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <array>
#include <climits>
#include <compare>
#include <cstdint>

namespace netboxit::middleware
{

/// An IPv6 address; an IPv4 address is written as an IPv4-mapped one (RFC 4291, section 2.5.5.2).
using HostAddress = std::array<std::uint8_t, 16>;

/// An IPv4-mapped address begins with so many bits that say it.
constexpr unsigned IPV4_MAPPED_BITS = 96;

constexpr bool IsIpv4(const HostAddress& host)
{
    for (unsigned byte = 0; byte < IPV4_MAPPED_BITS / CHAR_BIT; ++byte)
    {
        if (host[byte] != (byte < 10 ? 0 : 0xff))
        {
            return false;
        }
    }
    return true;
}

/// Where a datagram comes from or goes to.
struct Address
{
    HostAddress host{};
    std::uint16_t port{}; ///< of UDP

    auto operator<=>(const Address&) const = default;
};

/// All addresses that begin with the same bits.
struct Prefix
{
    HostAddress first{};
    unsigned length{}; ///< how many bits, of the IPv6 address: IPV4_MAPPED_BITS more than IPv4 says

    constexpr bool Contains(const HostAddress& host) const
    {
        for (unsigned bit = 0; bit < length; ++bit)
        {
            const unsigned mask = 1U << (CHAR_BIT - 1 - bit % CHAR_BIT);
            if ((host[bit / CHAR_BIT] & mask) != (first[bit / CHAR_BIT] & mask))
            {
                return false;
            }
        }
        return true;
    }

    bool operator==(const Prefix&) const = default;
};

/// `host` as a number: 192.0.2.1 is 0xc0000201.
constexpr Address Ipv4Address(std::uint32_t host, std::uint16_t port)
{
    Address address{.host = {}, .port = port};
    address.host[10] = address.host[11] = 0xff;
    for (unsigned byte = 0; byte < 4; ++byte)
    {
        address.host[12 + byte] = static_cast<std::uint8_t>(host >> (24 - 8 * byte));
    }
    return address;
}

} // namespace netboxit::middleware
