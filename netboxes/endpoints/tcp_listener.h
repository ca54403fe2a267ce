// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "flow.h"
#include "tcp_connection.h"

#include <functional>
#include <vector>

namespace netboxit
{

/// Accepts TCP connections at a port of a host, of both versions of IP that it has.
class TcpListener
{
  public:
    using Accept = std::function<void(const ns3::Ptr<TcpConnection>&, const ns3::Address& from)>;

    /// Listens from now on: a lab's hosts are up before its time begins. Throws std::invalid_argument where another flow of the
    /// host has the port. `trafficClass` is that of all packets of its connections.
    TcpListener(const FlowPlace& place, std::uint16_t port, const TcpOptions& options, std::uint8_t trafficClass, Accept accept);
    ~TcpListener();
    TcpListener(const TcpListener&) = delete;
    TcpListener& operator=(const TcpListener&) = delete;

    /// Connections that were one too many.
    std::uint64_t TurnedAway() const
    {
        return m_turnedAway;
    }

    void Reset()
    {
        m_turnedAway = 0;
    }

  private:
    void Listen(const FlowPlace& place, bool isIpv6, std::uint16_t port, const TcpOptions& options);
    bool Admits(ns3::Ptr<ns3::Socket> listener, const ns3::Address& from);
    void Take(ns3::Ptr<ns3::Socket> socket, const ns3::Address& from);

    std::uint8_t m_trafficClass;
    Accept m_accept;
    std::vector<ns3::Ptr<TcpConnection>> m_listeners; ///< of IPv4, and of IPv6
    std::uint64_t m_turnedAway{0};
};

} // namespace netboxit
