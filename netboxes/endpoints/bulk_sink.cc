// SPDX-License-Identifier: GPL-2.0-or-later
#include "bulk_sink.h"


#include "ns3/inet-socket-address.h"
#include "ns3/inet6-socket-address.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <sstream>

namespace netboxit
{

namespace
{

/// That statistics list.
constexpr std::size_t MOST_RECEPTIONS = 1024;

std::string TextOf(const ns3::Address& address)
{
    std::ostringstream text;
    if (ns3::InetSocketAddress::IsMatchingType(address))
    {
        const auto peer = ns3::InetSocketAddress::ConvertFrom(address);
        text << peer.GetIpv4() << ":" << peer.GetPort();
    }
    else
    {
        const auto peer = ns3::Inet6SocketAddress::ConvertFrom(address);
        text << "[" << peer.GetIpv6() << "]:" << peer.GetPort();
    }
    return text.str();
}

} // namespace

std::unique_ptr<Flow> MakeBulkSink(const FlowPlace& place, Section& configuration)
{
    const auto port = ReadPort(configuration, "port", 1);
    return std::make_unique<BulkSink>(place, port, ReadTcpOptions(configuration));
}

BulkSink::BulkSink(const FlowPlace& place, std::uint16_t port, const TcpOptions& options)
    : m_place(place),
      m_listener(place, port, options, 0, [this](const auto& connection, const auto& from) { Accept(connection, from); })
{
}

BulkSink::~BulkSink()
{
    for (const auto& reception : m_receptions)
    {
        if (reception.connection)
        {
            reception.connection->Silence();
        }
    }
}

void BulkSink::Begin()
{
    // Listens from the start: a lab's hosts are up before its time begins.
}

void BulkSink::Accept(const ns3::Ptr<TcpConnection>& connection, const ns3::Address& from)
{
    ++m_accepted;
    if (m_receptions.size() == MOST_RECEPTIONS)
    {
        const auto over = std::ranges::find(m_receptions, nullptr, &Reception::connection);
        if (over != m_receptions.end())
        {
            m_receptions.erase(over);
        }
    }
    m_receptions.push_back({connection, TextOf(from), 0, 0, 0});
    connection->SetRecvCallback(ns3::MakeCallback(&BulkSink::Take, this));
    connection->SetCloseCallbacks(ns3::MakeCallback(&BulkSink::End, this), ns3::MakeCallback(&BulkSink::Forget, this));
}

void BulkSink::Take(ns3::Ptr<ns3::Socket> socket)
{
    std::uint64_t bytes = 0;
    while (const auto data = socket->Recv())
    {
        if (data->GetSize() == 0)
        {
            break; // the end of the stream
        }
        bytes += data->GetSize();
    }
    const auto found = std::ranges::find(m_receptions, socket, [](const auto& reception) {
        return ns3::Ptr<ns3::Socket>(reception.connection);
    });
    m_received += bytes;
    if (found != m_receptions.end() && bytes > 0)
    {
        const auto now = m_place.frames.StampOf(ns3::Simulator::Now().GetNanoSeconds());
        found->first = found->bytes == 0 ? now : found->first;
        found->last = now;
        found->bytes += bytes;
    }
}

void BulkSink::End(ns3::Ptr<ns3::Socket> socket)
{
    Take(socket);
    socket->Close();
    Forget(socket);
}

void BulkSink::Forget(ns3::Ptr<ns3::Socket> socket)
{
    const auto found = std::ranges::find(m_receptions, socket, [](const auto& reception) {
        return ns3::Ptr<ns3::Socket>(reception.connection);
    });
    if (found != m_receptions.end())
    {
        found->connection = nullptr;
    }
}

Json BulkSink::Read() const
{
    auto connections = Json::array();
    for (const auto& [connection, peer, bytes, first, last] : m_receptions)
    {
        connections.push_back({{"peer", peer},
                               {"received", bytes},
                               {"first_ns", first},
                               {"last_ns", last},
                               {"open", connection != nullptr}});
    }
    return {{"received", m_received},
            {"accepted", m_accepted},
            {"turned_away", m_listener.TurnedAway()},
            {"connections", std::move(connections)}};
}

void BulkSink::Reset()
{
    m_received = m_accepted = 0;
    m_listener.Reset();
    std::erase_if(m_receptions, [](const auto& reception) { return !reception.connection; });
    for (auto& reception : m_receptions)
    {
        reception.bytes = 0;
        reception.first = reception.last = 0;
    }
}

} // namespace netboxit
