// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "address.h"

#include <arpa/inet.h>

#include <string>

namespace netboxit::middleware
{

/// As "10.0.0.1" or "2001:db8::1".
inline std::string TextOf(const HostAddress& host)
{
    std::array<char, INET6_ADDRSTRLEN> text{};
    const bool isIpv4 = IsIpv4(host);
    ::inet_ntop(isIpv4 ? AF_INET : AF_INET6, host.data() + (isIpv4 ? 12 : 0), text.data(), text.size());
    return text.data();
}

/// As "10.0.0.0/24" or "2001:db8::/64".
inline std::string TextOf(const Prefix& network)
{
    return TextOf(network.first) + "/" + std::to_string(network.length - (IsIpv4(network.first) ? IPV4_MAPPED_BITS : 0));
}

} // namespace netboxit::middleware
