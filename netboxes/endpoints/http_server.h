// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "http_server_connection.h"
#include "tcp_listener.h"

#include <list>

namespace netboxit
{

/// A server of HTTP/1.1 (RFC 9110, RFC 9112) for GET, over connections that stay: of whatever content it is given.
class HttpServer : public Flow
{
  public:
    struct Configuration
    {
        std::uint16_t port;
        std::uint8_t trafficClass;
        std::int64_t idle; ///< ns until a connection without requests is closed
        TcpOptions tcp;
    };

    HttpServer(const FlowPlace& place, const Configuration& configuration, HttpContent content);
    ~HttpServer() override;

    void Begin() override;
    Json Read() const override;
    void Reset() override;

  private:
    using Place = std::list<HttpServerConnection>::iterator;

    void Accept(const ns3::Ptr<TcpConnection>& socket);
    Place Find(const ns3::Ptr<ns3::Socket>& socket);
    void Serve(ns3::Ptr<ns3::Socket> socket);
    void Feed(ns3::Ptr<ns3::Socket> socket, std::uint32_t room);
    void End(ns3::Ptr<ns3::Socket> socket);
    void Forget(ns3::Ptr<ns3::Socket> socket);

    HttpServerConnection::Server m_common;
    std::list<HttpServerConnection> m_connections;
    std::uint64_t m_accepted{0};
    TcpListener m_listener;
};

/// What every server is told, whatever it has.
HttpServer::Configuration ReadHttpServer(Section& configuration);

} // namespace netboxit
