// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "flow.h"
#include "tcp_listener.h"

#include <deque>
#include <map>

namespace netboxit
{

/// What is to be had at a path of a server: a text, then zeros.
struct HttpObject
{
    std::string text;
    std::uint64_t zeros;
};

/// A server of HTTP/1.1 (RFC 9110, RFC 9112) for GET: objects of given lengths, over connections that stay.
class HttpServer : public Flow
{
  public:
    HttpServer(const FlowPlace& place,
               std::uint16_t port,
               std::uint8_t trafficClass,
               const TcpOptions& options,
               std::map<std::string, HttpObject> objects);
    ~HttpServer() override;

    void Begin() override;
    Json Read() const override;
    void Reset() override;

  private:
    /// What is still to be sent of a reply: what of the header and of the text, then zeros.
    struct Pending
    {
        std::string text;
        std::uint64_t zeros;
    };

    struct Client
    {
        ns3::Ptr<TcpConnection> connection;
        std::string request; ///< what of the next one has come
        std::deque<Pending> replies;
        bool closes{false}; ///< when all is sent
        bool closed{false};
    };

    void Accept(const ns3::Ptr<TcpConnection>& connection);
    void Take(ns3::Ptr<ns3::Socket> socket);
    void Answer(Client& client, std::string_view head);
    void Reply(Client& client, unsigned status, const HttpObject& object, bool closes);
    void Send(ns3::Ptr<ns3::Socket> socket, std::uint32_t room);
    void End(ns3::Ptr<ns3::Socket> socket);
    void Forget(ns3::Ptr<ns3::Socket> socket);

    FlowPlace m_place;
    std::map<std::string, HttpObject> m_objects; ///< by path
    std::map<ns3::Socket*, Client> m_clients;
    std::uint64_t m_accepted{0};
    std::uint64_t m_requests{0};
    std::uint64_t m_refused{0};
    std::uint64_t m_sent{0}; ///< bytes of replies
    TcpListener m_listener;
};

std::unique_ptr<Flow> MakeHttpServer(const FlowPlace& place, Section& configuration);

} // namespace netboxit
