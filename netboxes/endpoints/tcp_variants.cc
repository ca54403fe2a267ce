// SPDX-License-Identifier: GPL-2.0-or-later
#include "tcp_variants.h"

#include "linux_connection.h"
#include "noordwijk.h"
#include "reno_1999.h"

namespace netboxit
{

namespace
{

ns3::Ptr<TcpConnection> Make(const Host& host, TcpBehaviour behaviour, bool isIpv6)
{
    // ns-3 gives an object its attributes' defaults when its constructor has run.
    switch (behaviour)
    {
    case TcpBehaviour::Reno1999:
        return ns3::CreateObject<Reno1999>(host, isIpv6);
    case TcpBehaviour::Noordwijk:
        return ns3::CreateObject<Noordwijk>(host, isIpv6);
    case TcpBehaviour::Ordinary:
        break;
    }
    return ns3::CreateObject<LinuxConnection>(host, isIpv6);
}

} // namespace

ns3::Ptr<TcpConnection> MakeTcpConnection(Host& host,
                                          const TcpOptions& options,
                                          bool isIpv6,
                                          std::uint16_t mtu,
                                          std::int64_t randomStream)
{
    const auto connection = Make(host, options.behaviour, isIpv6);
    connection->Configure(options, mtu, randomStream);
    host.Tcp()->AddSocket(connection);
    return connection;
}

} // namespace netboxit
