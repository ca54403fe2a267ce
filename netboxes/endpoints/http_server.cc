// SPDX-License-Identifier: GPL-2.0-or-later
#include "http_server.h"

#include "ns3/simulator.h"

#include <algorithm>
#include <cmath>

namespace netboxit
{

namespace
{

/// nginx's keepalive_timeout.
constexpr double IDLE_S = 75;
constexpr double LONGEST_IDLE_S = 86'400;
constexpr std::int64_t NS = 1'000'000'000;

} // namespace

HttpServer::Configuration ReadHttpServer(Section& configuration)
{
    return {.port = ReadPort(configuration, "port", 1),
            .trafficClass = ReadTrafficClass(configuration),
            .idle = std::llround(configuration.NumberOr("idle_s", IDLE_S, 1, LONGEST_IDLE_S) * NS),
            .tcp = ReadTcpOptions(configuration)};
}

HttpServer::HttpServer(const FlowPlace& place, const Configuration& configuration, HttpContent content)
    : m_common{.content = std::move(content),
               .idle = configuration.idle,
               .date = [&frames = place.frames] { return frames.StampOf(ns3::Simulator::Now().GetNanoSeconds()) / NS; }},
      m_listener(place,
                 configuration.port,
                 configuration.tcp,
                 configuration.trafficClass,
                 [this](const auto& socket, const auto&) { Accept(socket); })
{
}

HttpServer::~HttpServer()
{
    for (auto& connection : m_connections)
    {
        connection.Silence();
    }
}

void HttpServer::Begin()
{
    // Listens from the start: a lab's hosts are up before its time begins.
}

void HttpServer::Accept(const ns3::Ptr<TcpConnection>& socket)
{
    ++m_accepted;
    socket->SetRecvCallback(ns3::MakeCallback(&HttpServer::Serve, this));
    socket->SetSendCallback(ns3::MakeCallback(&HttpServer::Feed, this));
    socket->SetCloseCallbacks(ns3::MakeCallback(&HttpServer::End, this), ns3::MakeCallback(&HttpServer::Forget, this));
    m_connections.emplace_back(socket, m_common, [this, socket = ns3::PeekPointer(socket)] {
        socket->Close();
        Forget(socket);
    });
}

HttpServer::Place HttpServer::Find(const ns3::Ptr<ns3::Socket>& socket)
{
    return std::ranges::find_if(m_connections,
                                [&](const auto& own) { return ns3::Ptr<ns3::Socket>(own.Socket()) == socket; });
}

void HttpServer::Serve(ns3::Ptr<ns3::Socket> socket)
{
    const auto found = Find(socket);
    if (found != m_connections.end())
    {
        found->Serve();
    }
}

void HttpServer::Feed(ns3::Ptr<ns3::Socket> socket, std::uint32_t)
{
    Serve(socket);
}

/// The far end has closed its side; it still gets its replies.
void HttpServer::End(ns3::Ptr<ns3::Socket> socket)
{
    Serve(socket);
    const auto found = Find(socket);
    if (found != m_connections.end() && found->IsReplying())
    {
        found->CloseWhenServed();
        return;
    }
    socket->Close();
    Forget(socket);
}

void HttpServer::Forget(ns3::Ptr<ns3::Socket> socket)
{
    const auto found = Find(socket);
    if (found != m_connections.end())
    {
        // Not within a call of its own.
        ns3::Simulator::ScheduleNow(&TcpConnection::Silence, found->Socket());
        m_connections.erase(found);
    }
}

Json HttpServer::Read() const
{
    return {{"accepted", m_accepted},
            {"turned_away", m_listener.TurnedAway()},
            {"open", m_connections.size()},
            {"requests", m_common.counts.requests},
            {"refused", m_common.counts.refused},
            {"bytes", m_common.counts.bytes}};
}

void HttpServer::Reset()
{
    m_accepted = 0;
    m_common.counts = {};
    m_listener.Reset();
}

} // namespace netboxit
