// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "tcp_connection.h"

namespace netboxit
{

/// A socket of `host` that behaves as the variant asks.
ns3::Ptr<TcpConnection> MakeTcpConnection(Host& host,
                                          const TcpOptions& options,
                                          bool isIpv6,
                                          std::uint16_t mtu,
                                          std::int64_t randomStream);

} // namespace netboxit
