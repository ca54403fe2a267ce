// SPDX-License-Identifier: GPL-2.0-or-later
#include "http_server.h"

#include "http_message.h"

#include "ns3/simulator.h"

#include <algorithm>

namespace netboxit
{

namespace
{

/// Replies that wait in a connection: the last of so many is the last one of all.
constexpr std::size_t MOST_REPLIES = 64;
constexpr double LARGEST_OBJECT = 1e12;
constexpr unsigned OK = 200;
constexpr unsigned BAD_REQUEST = 400;
constexpr unsigned NOT_FOUND = 404;
constexpr unsigned NOT_ALLOWED = 405;

std::map<std::string, HttpObject> ReadObjects(Section& configuration)
{
    std::map<std::string, HttpObject> objects;
    for (const auto& json : configuration.List("objects"))
    {
        Section section(json, configuration.Path("objects[" + std::to_string(objects.size()) + "]"));
        const auto path = section.Text("path");
        const HttpObject object{section.TextOr("text", ""),
                                static_cast<std::uint64_t>(section.NumberOr("bytes", 0, 0, LARGEST_OBJECT))};
        section.Finish();
        if (path.front() != '/' || path.find_first_of(" \r\n") != std::string::npos || !objects.emplace(path, object).second)
        {
            section.Refuse("path", "is \"" + path + R"("; write each once, like "/video.mp4")");
        }
    }
    return objects;
}

} // namespace

std::unique_ptr<Flow> MakeHttpServer(const FlowPlace& place, Section& configuration)
{
    const auto port = ReadPort(configuration, "port", 1);
    const auto trafficClass = ReadTrafficClass(configuration);
    const auto options = ReadTcpOptions(configuration);
    return std::make_unique<HttpServer>(place, port, trafficClass, options, ReadObjects(configuration));
}

HttpServer::HttpServer(const FlowPlace& place,
                       std::uint16_t port,
                       std::uint8_t trafficClass,
                       const TcpOptions& options,
                       std::map<std::string, HttpObject> objects)
    : m_place(place), m_objects(std::move(objects)),
      m_listener(place, port, options, trafficClass, [this](const auto& connection, const auto&) { Accept(connection); })
{
}

HttpServer::~HttpServer()
{
    for (const auto& [socket, client] : m_clients)
    {
        client.connection->Silence();
    }
}

void HttpServer::Begin()
{
    // Listens from the start: a lab's hosts are up before its time begins.
}

void HttpServer::Accept(const ns3::Ptr<TcpConnection>& connection)
{
    ++m_accepted;
    m_clients.insert_or_assign(ns3::PeekPointer(connection), Client{connection, "", {}});
    connection->SetRecvCallback(ns3::MakeCallback(&HttpServer::Take, this));
    connection->SetSendCallback(ns3::MakeCallback(&HttpServer::Send, this));
    connection->SetCloseCallbacks(ns3::MakeCallback(&HttpServer::End, this), ns3::MakeCallback(&HttpServer::Forget, this));
}

void HttpServer::Take(ns3::Ptr<ns3::Socket> socket)
{
    const auto found = m_clients.find(ns3::PeekPointer(socket));
    if (found == m_clients.end())
    {
        return;
    }
    auto& client = found->second;
    while (!client.closes)
    {
        const auto data = socket->Recv(http::LONGEST_HEAD, 0);
        if (!data || data->GetSize() == 0)
        {
            break;
        }
        std::string text(data->GetSize(), '\0');
        data->CopyData(reinterpret_cast<std::uint8_t*>(text.data()), data->GetSize());
        client.request += text;
        for (auto length = http::HeadLength(client.request); !client.closes && length;
             length = http::HeadLength(client.request))
        {
            const auto head = client.request.substr(0, *length);
            client.request.erase(0, *length);
            Answer(client, head);
        }
        if (!client.closes && client.request.size() > http::LONGEST_HEAD)
        {
            Reply(client, BAD_REQUEST, {}, true);
        }
    }
    Send(socket, socket->GetTxAvailable());
}

void HttpServer::Answer(Client& client, std::string_view head)
{
    ++m_requests;
    const auto request = http::ReadRequest(head);
    if (!request)
    {
        // What follows could be anything.
        Reply(client, BAD_REQUEST, {}, true);
        return;
    }
    const bool closes = request->closes || client.replies.size() + 1 == MOST_REPLIES;
    const auto object = m_objects.find(std::string(request->target));
    if (request->target.empty())
    {
        Reply(client, NOT_ALLOWED, {}, closes);
    }
    else if (object == m_objects.end())
    {
        Reply(client, NOT_FOUND, {}, closes);
    }
    else
    {
        Reply(client, OK, object->second, closes);
    }
}

void HttpServer::Reply(Client& client, unsigned status, const HttpObject& object, bool closes)
{
    constexpr std::int64_t NS = 1'000'000'000;
    const auto now = m_place.frames.StampOf(ns3::Simulator::Now().GetNanoSeconds()) / NS;
    m_refused += status != OK;
    client.closes = closes;
    client.replies.push_back({http::WriteReply(status, object.text.size() + object.zeros, closes, now) + object.text, object.zeros});
}

void HttpServer::Send(ns3::Ptr<ns3::Socket> socket, std::uint32_t room)
{
    const auto found = m_clients.find(ns3::PeekPointer(socket));
    if (found == m_clients.end())
    {
        return;
    }
    auto& client = found->second;
    while (!client.replies.empty() && room > 0)
    {
        auto& reply = client.replies.front();
        const auto text = std::min<std::size_t>(room, reply.text.size());
        const auto zeros = std::min<std::uint64_t>(room - text, text == reply.text.size() ? reply.zeros : 0);
        // Zeros without bytes, so that a buffer takes no memory for them.
        const auto data = ns3::Create<ns3::Packet>(reinterpret_cast<const std::uint8_t*>(reply.text.data()),
                                                   static_cast<std::uint32_t>(text));
        data->AddAtEnd(ns3::Create<ns3::Packet>(static_cast<std::uint32_t>(zeros)));
        if (socket->Send(data) < 0)
        {
            return;
        }
        m_sent += text + zeros;
        room -= static_cast<std::uint32_t>(text + zeros);
        reply.text.erase(0, text);
        reply.zeros -= zeros;
        if (reply.text.empty() && reply.zeros == 0)
        {
            client.replies.pop_front();
        }
    }
    if (client.replies.empty() && client.closes && !client.closed)
    {
        client.closed = true;
        socket->Close();
    }
}

void HttpServer::End(ns3::Ptr<ns3::Socket> socket)
{
    socket->Close();
    Forget(socket);
}

void HttpServer::Forget(ns3::Ptr<ns3::Socket> socket)
{
    const auto found = m_clients.find(ns3::PeekPointer(socket));
    if (found != m_clients.end())
    {
        found->second.connection->Silence();
        m_clients.erase(found);
    }
}

Json HttpServer::Read() const
{
    std::uint64_t retransmissions = 0;
    for (const auto& [socket, client] : m_clients)
    {
        retransmissions += client.connection->Read().at("retransmissions").get<std::uint64_t>();
    }
    return {{"accepted", m_accepted},
            {"turned_away", m_listener.TurnedAway()},
            {"requests", m_requests},
            {"refused", m_refused},
            {"sent", m_sent},
            {"open", m_clients.size()},
            {"retransmissions", retransmissions}};
}

void HttpServer::Reset()
{
    m_accepted = m_requests = m_refused = m_sent = 0;
    m_listener.Reset();
}

} // namespace netboxit
