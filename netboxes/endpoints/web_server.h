// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "http_message.h"
#include "tcp_listener.h"
#include "web_pages.h"

#include "ns3/event-id.h"

#include <list>

namespace netboxit
{

/// Serves pages of zeros by HTTP/1.1: the objects of a page set, to whoever asks.
class WebServer : public Flow
{
  public:
    struct Configuration
    {
        std::uint16_t port;
        std::uint8_t trafficClass;
        std::vector<WebPage> pages;
        std::int64_t idle; ///< ns until a connection without requests is closed
        TcpOptions tcp;
    };

    WebServer(const FlowPlace& place, Configuration configuration);
    ~WebServer() override;

    void Begin() override;
    Json Read() const override;
    void Reset() override;

  private:
    struct Connection
    {
        ns3::Ptr<TcpConnection> socket;
        std::string asked;     ///< requests that are not answered yet, or their beginning
        std::string head;      ///< of a reply, that is not sent yet
        std::uint64_t left;    ///< of its content, bytes
        bool closes;           ///< when the reply is sent
        ns3::EventId idle;
    };

    using Place = std::list<Connection>::iterator;

    void Accept(const ns3::Ptr<TcpConnection>& socket);
    Place Find(const ns3::Ptr<ns3::Socket>& socket);
    void Take(ns3::Ptr<ns3::Socket> socket);
    void Feed(ns3::Ptr<ns3::Socket> socket, std::uint32_t room);
    void End(ns3::Ptr<ns3::Socket> socket);
    void Forget(ns3::Ptr<ns3::Socket> socket);
    void Expire(ns3::Ptr<TcpConnection> socket);

    void Serve(Connection& connection);
    bool IsReplying(const Connection& connection) const;
    void Answer(Connection& connection, std::size_t headLength);
    void Refuse(Connection& connection, unsigned status);
    void Reply(Connection& connection, unsigned status, std::uint64_t length);
    void Send(Connection& connection, std::uint32_t room);
    void AwaitRequest(Connection& connection);

    FlowPlace m_place;
    Configuration m_configuration;
    std::list<Connection> m_connections;
    std::uint64_t m_accepted{0};
    std::uint64_t m_requests{0};
    std::uint64_t m_refused{0};
    std::uint64_t m_bytes{0};
    TcpListener m_listener;
};

std::unique_ptr<Flow> MakeWebServer(const FlowPlace& place, Section& configuration);

} // namespace netboxit
