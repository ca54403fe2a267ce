// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <string>

namespace netboxit::middleware
{

inline bool IsIpv4(const HostAddress& host)
{
    constexpr HostAddress MAPPED{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    return std::equal(host.begin(), host.begin() + 12, MAPPED.begin());
}

/// As "10.0.0.1" or "2001:db8::1".
inline std::string TextOf(const HostAddress& host)
{
    std::array<char, INET6_ADDRSTRLEN> text{};
    const bool isIpv4 = IsIpv4(host);
    ::inet_ntop(isIpv4 ? AF_INET : AF_INET6, host.data() + (isIpv4 ? 12 : 0), text.data(), text.size());
    return text.data();
}

} // namespace netboxit::middleware
