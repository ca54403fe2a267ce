// SPDX-License-Identifier: GPL-2.0-or-later
#include "web_server.h"

#include "ns3/boolean.h"
#include "ns3/simulator.h"
#include "ns3/tcp-tx-buffer.h"

#include <algorithm>
#include <cmath>

namespace netboxit
{

namespace
{

/// Default of tcp_wmem.
constexpr std::uint32_t LEAST_BACKLOG = 16384;
/// nginx's keepalive_timeout.
constexpr double IDLE_S = 75;
constexpr double LONGEST_IDLE_S = 86'400;
constexpr std::int64_t NS = 1'000'000'000;

} // namespace

std::unique_ptr<Flow> MakeWebServer(const FlowPlace& place, Section& configuration)
{
    return std::make_unique<WebServer>(
        place,
        WebServer::Configuration{
            .port = ReadPort(configuration, "port", 1),
            .trafficClass = ReadTrafficClass(configuration),
            .pages = ReadPages(configuration),
            .idle = std::llround(configuration.NumberOr("idle_s", IDLE_S, 1, LONGEST_IDLE_S) * NS),
            .tcp = ReadTcpOptions(configuration)});
}

WebServer::WebServer(const FlowPlace& place, Configuration configuration)
    : m_place(place),
      m_configuration(std::move(configuration)),
      m_listener(place,
                 m_configuration.port,
                 m_configuration.tcp,
                 m_configuration.trafficClass,
                 [this](const auto& socket, const auto&) { Accept(socket); })
{
}

WebServer::~WebServer()
{
    for (auto& connection : m_connections)
    {
        connection.idle.Cancel();
        connection.socket->Silence();
    }
}

void WebServer::Begin()
{
    // Listens from the start.
}

void WebServer::Accept(const ns3::Ptr<TcpConnection>& socket)
{
    ++m_accepted;
    auto& connection = m_connections.emplace_back(
        Connection{.socket = socket, .asked = {}, .head = {}, .left = 0, .closes = false, .idle = {}});
    socket->SetAttribute("TcpNoDelay", ns3::BooleanValue(true)); // as nginx
    socket->SetRecvCallback(ns3::MakeCallback(&WebServer::Take, this));
    socket->SetSendCallback(ns3::MakeCallback(&WebServer::Feed, this));
    socket->SetCloseCallbacks(ns3::MakeCallback(&WebServer::End, this), ns3::MakeCallback(&WebServer::Forget, this));
    AwaitRequest(connection);
}

WebServer::Place WebServer::Find(const ns3::Ptr<ns3::Socket>& socket)
{
    return std::ranges::find_if(m_connections,
                                [&](const auto& own) { return ns3::Ptr<ns3::Socket>(own.socket) == socket; });
}

void WebServer::Take(ns3::Ptr<ns3::Socket> socket)
{
    const auto found = Find(socket);
    if (found != m_connections.end())
    {
        Serve(*found);
    }
}

void WebServer::Feed(ns3::Ptr<ns3::Socket> socket, std::uint32_t room)
{
    const auto found = Find(socket);
    if (found != m_connections.end() && IsReplying(*found))
    {
        Send(*found, room);
        Serve(*found);
    }
}

/// One request after another. What is asked meanwhile waits in the socket, so that it takes no more memory than the window.
void WebServer::Serve(Connection& connection)
{
    while (!IsReplying(connection) && !connection.closes)
    {
        if (const auto length = http::HeadLength(connection.asked))
        {
            Answer(connection, *length);
            continue;
        }
        const auto room = http::LONGEST_HEAD - connection.asked.size();
        if (room == 0)
        {
            Refuse(connection, 400);
            continue;
        }
        const auto data = connection.socket->Recv(static_cast<std::uint32_t>(room), 0);
        if (!data || data->GetSize() == 0)
        {
            return;
        }
        const auto before = connection.asked.size();
        connection.asked.resize(before + data->GetSize());
        data->CopyData(reinterpret_cast<std::uint8_t*>(connection.asked.data() + before), data->GetSize());
    }
}

bool WebServer::IsReplying(const Connection& connection) const
{
    return !connection.head.empty() || connection.left > 0;
}

void WebServer::Answer(Connection& connection, std::size_t headLength)
{
    const auto request = http::ReadRequest(std::string_view(connection.asked).substr(0, headLength));
    if (!request || request->target.empty())
    {
        Refuse(connection, request ? 405 : 400);
        return;
    }
    ++m_requests;
    connection.closes = request->closes;
    const auto* const object = FindObject(m_configuration.pages, request->target);
    connection.asked.erase(0, headLength);
    if (object == nullptr)
    {
        ++m_refused;
        Reply(connection, 404, 0);
        return;
    }
    Reply(connection, 200, object->bytes);
}

void WebServer::Refuse(Connection& connection, unsigned status)
{
    ++m_refused;
    connection.asked.clear();
    connection.closes = true;
    Reply(connection, status, 0);
}

void WebServer::Reply(Connection& connection, unsigned status, std::uint64_t length)
{
    connection.idle.Cancel();
    const auto now = m_place.frames.StampOf(ns3::Simulator::Now().GetNanoSeconds());
    connection.head = http::WriteReply(status, length, connection.closes, now / NS);
    connection.left = length;
    m_bytes += length;
    Send(connection, connection.socket->GetTxAvailable());
}

void WebServer::Send(Connection& connection, std::uint32_t room)
{
    const auto wanted = std::max(LEAST_BACKLOG, connection.socket->UsefulBacklog());
    room = std::min(room, wanted - std::min(wanted, connection.socket->GetTxBuffer()->Size()));
    if (room <= connection.head.size())
    {
        return; // until more is acknowledged
    }
    const auto content = static_cast<std::uint32_t>(std::min<std::uint64_t>(room - connection.head.size(), connection.left));
    // The content is of zeros without bytes, so that a buffer takes no memory for them.
    auto data = ns3::Create<ns3::Packet>(content);
    if (!connection.head.empty())
    {
        const auto* const head = reinterpret_cast<const std::uint8_t*>(connection.head.data());
        const auto withHead = ns3::Create<ns3::Packet>(head, static_cast<std::uint32_t>(connection.head.size()));
        withHead->AddAtEnd(data);
        data = withHead;
    }
    if (connection.socket->Send(data, 0) < 0)
    {
        return;
    }
    connection.head.clear();
    connection.left -= content;
    if (connection.left == 0)
    {
        if (connection.closes)
        {
            connection.socket->Close();
        }
        AwaitRequest(connection);
    }
}

void WebServer::AwaitRequest(Connection& connection)
{
    connection.idle.Cancel();
    connection.idle =
        ns3::Simulator::Schedule(ns3::NanoSeconds(m_configuration.idle), &WebServer::Expire, this, connection.socket);
}

void WebServer::Expire(ns3::Ptr<TcpConnection> socket)
{
    socket->Close();
    Forget(socket);
}

void WebServer::End(ns3::Ptr<ns3::Socket> socket)
{
    Take(socket);
    const auto found = Find(socket);
    if (found != m_connections.end() && IsReplying(*found))
    {
        found->closes = true; // who has closed his side still gets his reply
        return;
    }
    socket->Close();
    Forget(socket);
}

void WebServer::Forget(ns3::Ptr<ns3::Socket> socket)
{
    const auto found = Find(socket);
    if (found != m_connections.end())
    {
        found->idle.Cancel();
        // Not within a call of its own.
        ns3::Simulator::ScheduleNow(&TcpConnection::Silence, found->socket);
        m_connections.erase(found);
    }
}

Json WebServer::Read() const
{
    return {{"accepted", m_accepted},
            {"turned_away", m_listener.TurnedAway()},
            {"open", m_connections.size()},
            {"requests", m_requests},
            {"refused", m_refused},
            {"bytes", m_bytes}};
}

void WebServer::Reset()
{
    m_accepted = m_requests = m_refused = m_bytes = 0;
    m_listener.Reset();
}

} // namespace netboxit
