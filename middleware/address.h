// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <array>
#include <compare>
#include <cstdint>

namespace netboxit::middleware
{

/// An IPv6 address; an IPv4 address is written as an IPv4-mapped one (RFC 4291, section 2.5.5.2).
using HostAddress = std::array<std::uint8_t, 16>;

/// Where a datagram comes from or goes to.
struct Address
{
    HostAddress host{};
    std::uint16_t port{}; ///< of UDP

    auto operator<=>(const Address&) const = default;
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
