// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../../middleware/address.h"
#include "../engine/headers.h"

#include "ns3/address.h"
#include "ns3/ipv4-address.h"
#include "ns3/ipv6-address.h"

#include <string>

namespace netboxit
{

/// An IPv4 or IPv6 address.
struct IpAddress
{
    std::array<std::uint8_t, 16> bytes{}; ///< of IPv4 the first four
    bool isIpv6{};

    auto operator<=>(const IpAddress&) const = default;

    ns3::Ipv4Address Ipv4() const;
    ns3::Ipv6Address Ipv6() const;
    /// With a port, as sockets want it.
    ns3::Address Socket(std::uint16_t port) const;
};

/// An address and the length of its network's prefix, bits.
struct Prefix
{
    IpAddress address;
    unsigned length{};

    bool Contains(const IpAddress& other) const;
};

/// `place` names the key in the configuration; all throw std::invalid_argument that begins with it.
IpAddress ReadAddress(const std::string& text, const std::string& place);
/// As "10.0.0.1/24" or "fd00::1/64".
Prefix ReadPrefix(const std::string& text, const std::string& place);

/// A host's address in the middleware's words, and in ours.
middleware::HostAddress HostAddressOf(const IpAddress& address);
IpAddress IpAddressOf(const middleware::HostAddress& address);

} // namespace netboxit
