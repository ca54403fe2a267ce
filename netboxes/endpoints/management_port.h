// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "host.h"

#include "../../middleware/address.h"

#include <functional>
#include <span>

namespace netboxit
{

/// A UDP port of the middleware (middleware/README.md) at all addresses of a host. Each address has a socket of its own, so that
/// an answer leaves from the address that was asked (RFC 1123, section 4.1.3.5): members ignore all else.
class ManagementPort
{
  public:
    /// A datagram came from `from` to the host's address `own`.
    using Take = std::function<void(std::span<const std::uint8_t> bytes,
                                    const middleware::Address& from,
                                    const middleware::HostAddress& own)>;

    /// Throws std::invalid_argument where somebody else has the port.
    ManagementPort(Host& host, std::uint16_t port, Take take);
    ~ManagementPort();
    ManagementPort(const ManagementPort&) = delete;
    ManagementPort& operator=(const ManagementPort&) = delete;

    /// Sends from an address of the host. A datagram without a route is lost, as any other may be.
    void Send(const middleware::HostAddress& own, const middleware::Address& to, std::span<const std::uint8_t> bytes);
    /// Sends to an IPv4 multicast group, by the interface that has this address of the host.
    void SendToGroup(const middleware::HostAddress& own, const middleware::Address& group, std::span<const std::uint8_t> bytes);
    /// Takes also what is sent to an IPv4 multicast group.
    void Join(const middleware::HostAddress& group);

  private:
    void ListenAt(const IpAddress& address);
    void Receive(ns3::Ptr<ns3::Socket> socket);

    Host& m_host;
    std::uint16_t m_port;
    Take m_take;
    std::map<middleware::HostAddress, ns3::Ptr<ns3::Socket>> m_sockets; ///< by address, also of a group
};

} // namespace netboxit
