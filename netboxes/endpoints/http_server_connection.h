// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "http_content.h"
#include "tcp_connection.h"
#include "timer.h"

#include <deque>

namespace netboxit
{

/// A connection at its server: takes requests, and answers them in order. An idle connection expires.
class HttpServerConnection
{
  public:
    /// What a server counts, of all its connections.
    struct Counts
    {
        std::uint64_t requests{0};
        std::uint64_t refused{0}; ///< requests that were not answered by 200
        std::uint64_t bytes{0};   ///< of content, as it was given to TCP
    };

    /// What all connections of a server have in common; outlives them.
    struct Server
    {
        HttpContent content;
        std::int64_t idle;                  ///< ns without a request until a connection expires
        std::function<std::int64_t()> date; ///< now, seconds since 1970
        Counts counts{};
    };

    /// `expire` is called when the connection expires, and may destroy it.
    HttpServerConnection(ns3::Ptr<TcpConnection> socket, Server& server, std::function<void()> expire);

    const ns3::Ptr<TcpConnection>& Socket() const
    {
        return m_socket;
    }

    /// Requests have come, or there is room for replies.
    void Serve();
    /// Takes no further request, and closes the connection behind the replies that wait.
    void CloseWhenServed();
    /// Not all replies have been given to TCP.
    bool IsReplying() const;
    /// Calls nobody any more.
    void Silence();

  private:
    /// What TCP has not been given of a reply.
    struct Reply
    {
        std::string head;
        HttpObject content;
    };

    void TakeRequests();
    void Answer(std::size_t headLength);
    void Refuse(unsigned status);
    void Enqueue(unsigned status, HttpObject content);
    void Send();
    /// Of a reply, what fits. False: nothing of it.
    bool Send(Reply& reply);
    void Close();
    void AwaitRequest();

    ns3::Ptr<TcpConnection> m_socket;
    Server& m_server;
    std::function<void()> m_expire;
    std::string m_asked; ///< a request, as far as it has come
    std::deque<Reply> m_replies;
    bool m_closes{false}; ///< behind the last reply
    Timer m_idle;
};

} // namespace netboxit
