// SPDX-License-Identifier: GPL-2.0-or-later
#include "http_server_connection.h"

#include "http_message.h"

#include "ns3/boolean.h"

#include <algorithm>

namespace netboxit
{

namespace
{

/// With so many replies that wait, the last of them is the last one of the connection.
constexpr std::size_t MOST_REPLIES = 64;
constexpr unsigned OK = 200;
constexpr unsigned BAD_REQUEST = 400;
constexpr unsigned NOT_FOUND = 404;
constexpr unsigned NOT_ALLOWED = 405;

} // namespace

HttpServerConnection::HttpServerConnection(ns3::Ptr<TcpConnection> socket, Server& server, std::function<void()> expire)
    : m_socket(std::move(socket)), m_server(server), m_expire(std::move(expire))
{
    m_socket->SetAttribute("TcpNoDelay", ns3::BooleanValue(true)); // as nginx
    AwaitRequest();
}

void HttpServerConnection::Serve()
{
    TakeRequests();
    Send();
}

void HttpServerConnection::CloseWhenServed()
{
    m_closes = true;
}

bool HttpServerConnection::IsReplying() const
{
    return !m_replies.empty();
}

void HttpServerConnection::Silence()
{
    m_idle.Stop();
    m_socket->Silence();
}

void HttpServerConnection::TakeRequests()
{
    while (!m_closes)
    {
        if (const auto length = http::HeadLength(m_asked))
        {
            Answer(*length);
            continue;
        }
        const auto room = http::LONGEST_HEAD - m_asked.size();
        if (room == 0)
        {
            Refuse(BAD_REQUEST);
            return;
        }
        const auto data = m_socket->Recv(static_cast<std::uint32_t>(room), 0);
        if (!data || data->GetSize() == 0)
        {
            return;
        }
        const auto before = m_asked.size();
        m_asked.resize(before + data->GetSize());
        data->CopyData(reinterpret_cast<std::uint8_t*>(m_asked.data() + before), data->GetSize());
    }
}

void HttpServerConnection::Answer(std::size_t headLength)
{
    const auto request = http::ReadRequest(std::string_view(m_asked).substr(0, headLength));
    if (!request || request->target.empty())
    {
        Refuse(request ? NOT_ALLOWED : BAD_REQUEST); // what follows could be anything
        return;
    }
    auto object = m_server.content(request->target);
    m_closes = request->closes || m_replies.size() + 1 == MOST_REPLIES;
    m_asked.erase(0, headLength);
    const auto status = object ? OK : NOT_FOUND;
    Enqueue(status, std::move(object).value_or(HttpObject{}));
}

void HttpServerConnection::Refuse(unsigned status)
{
    m_asked.clear();
    m_closes = true;
    Enqueue(status, {});
}

void HttpServerConnection::Enqueue(unsigned status, HttpObject content)
{
    m_idle.Stop();
    ++m_server.counts.requests;
    m_server.counts.refused += status != OK;
    const auto length = content.text.size() + content.zeros;
    m_replies.push_back({http::WriteReply(status, length, m_closes, m_server.date()), std::move(content)});
}

void HttpServerConnection::Send()
{
    if (m_replies.empty())
    {
        return;
    }
    while (!m_replies.empty())
    {
        auto& reply = m_replies.front();
        if (!Send(reply))
        {
            return; // until more is acknowledged
        }
        if (reply.head.empty() && reply.content.text.empty() && reply.content.zeros == 0)
        {
            m_replies.pop_front();
        }
    }
    if (m_closes)
    {
        Close();
    }
    AwaitRequest();
}

/// Data that nobody has read would make it a reset (RFC 2525, 2.17), by which the far end loses replies.
void HttpServerConnection::Close()
{
    m_socket->Recv(UINT32_MAX, 0);
    m_socket->Close();
}

bool HttpServerConnection::Send(Reply& reply)
{
    auto& [head, content] = reply;
    const auto room = m_socket->UsefulRoom();
    if (room <= head.size()) // which is sent whole, and not by itself where there is content
    {
        return false;
    }
    const auto text = std::min<std::size_t>(room - head.size(), content.text.size());
    const auto zeros = std::min<std::uint64_t>(room - head.size() - text, content.zeros);
    const auto written = head + content.text.substr(0, text);
    const auto data = ns3::Create<ns3::Packet>(reinterpret_cast<const std::uint8_t*>(written.data()),
                                               static_cast<std::uint32_t>(written.size()));
    data->AddAtEnd(ns3::Create<ns3::Packet>(static_cast<std::uint32_t>(zeros)));
    if (m_socket->Send(data, 0) < 0)
    {
        return false;
    }
    m_server.counts.bytes += text + zeros;
    head.clear();
    content.text.erase(0, text);
    content.zeros -= zeros;
    return true;
}

void HttpServerConnection::AwaitRequest()
{
    m_idle.Set(m_server.idle, m_expire);
}

} // namespace netboxit
