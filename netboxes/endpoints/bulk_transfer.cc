// SPDX-License-Identifier: GPL-2.0-or-later
#include "bulk_transfer.h"

#include "tcp_variants.h"

#include "ns3/simulator.h"
#include "ns3/tcp-tx-buffer.h"

#include <algorithm>

namespace netboxit
{

namespace
{

Json OrNull(const std::optional<double>& value)
{
    return value ? Json(*value) : Json();
}

} // namespace

BulkTransfer::BulkTransfer(const FlowPlace& place, const BulkSenderConfiguration& configuration, unsigned number)
    : m_place(place), m_announcements(place.announcements), m_configuration(configuration), m_number(number)
{
}

BulkTransfer::~BulkTransfer()
{
    if (m_connection)
    {
        m_connection->Silence();
    }
}

void BulkTransfer::Start(std::int64_t began)
{
    m_began = began;
    m_offered = 0;
    m_stopped = false;
    m_started = Now();
    m_connected = m_completed = std::nullopt;
    m_failure.clear();
    const auto& [destination, port, sourcePort, trafficClass, start, size, until, parallel, tcp] = m_configuration;
    m_connection = MakeTcpConnection(m_place.host,
                                     tcp,
                                     destination.isIpv6,
                                     m_place.host.MtuTowards(destination),
                                     m_place.randomStream + m_number);
    const auto ownPort = static_cast<std::uint16_t>(sourcePort == 0 ? 0 : sourcePort + m_number);
    m_connection->SetConnectCallback(ns3::MakeCallback(&BulkTransfer::Connected, this),
                                     ns3::MakeCallback(&BulkTransfer::Failed, this));
    m_connection->SetCloseCallbacks(ns3::MakeNullCallback<void, ns3::Ptr<ns3::Socket>>(),
                                    ns3::MakeCallback(&BulkTransfer::Failed, this));
    m_connection->SetSendCallback(ns3::MakeCallback(&BulkTransfer::Feed, this));
    m_connection->SetAcknowledgementHandler([this] { LookForCompletion(); });
    const auto own = m_place.host.SourceTowards(destination);
    if (!own)
    {
        Fail("no route");
        return;
    }
    // With the address: ns-3 gives a port a second time to who binds it to none, and ends the process when a segment comes.
    if (ownPort != 0 && m_connection->Bind(own->Socket(ownPort)) != 0)
    {
        Fail("source port " + std::to_string(ownPort) + " is in use");
        return;
    }
    SetTrafficClass(m_connection, destination.isIpv6, trafficClass);
    if (m_connection->Connect(destination.Socket(port)) != 0)
    {
        Fail("no route");
        return;
    }
    m_announcements.Announce(
        "flow_started", std::nullopt, {{"flow", m_place.name}, {"connection", m_number}});
}

void BulkTransfer::Stop()
{
    m_stopped = true;
    if (m_connected)
    {
        m_connection->Close();
        LookForCompletion();
    }
    else if (m_failure.empty() && m_connection)
    {
        m_connection->Abort();
        Fail("not connected in time");
    }
}

void BulkTransfer::Abort()
{
    if (m_connection)
    {
        m_connection->Abort();
        m_connection = nullptr;
    }
}

void BulkTransfer::Connected(ns3::Ptr<ns3::Socket>)
{
    m_connected = Now();
}

void BulkTransfer::Failed(ns3::Ptr<ns3::Socket>)
{
    if (!m_completed)
    {
        Fail(m_connected ? "connection lost" : "not connected");
    }
}

void BulkTransfer::Fail(const std::string& reason)
{
    m_failure = reason;
    m_announcements.Announce(
        "flow_failed", std::nullopt, {{"flow", m_place.name}, {"connection", m_number}, {"reason", reason}});
}

void BulkTransfer::Feed(ns3::Ptr<ns3::Socket> socket, std::uint32_t)
{
    if (m_stopped)
    {
        return;
    }
    const auto left = m_configuration.size ? *m_configuration.size - m_offered : UINT64_MAX;
    const auto length = static_cast<std::uint32_t>(std::min<std::uint64_t>(m_connection->UsefulRoom(), left));
    // A packet of zeros without bytes, so that a buffer takes no memory for them.
    if (length > 0 && socket->Send(ns3::Create<ns3::Packet>(length)) >= 0)
    {
        m_offered += length;
    }
    if (m_configuration.size && m_offered == *m_configuration.size)
    {
        m_stopped = true;
        socket->Close();
    }
}

void BulkTransfer::LookForCompletion()
{
    if (m_completed || !m_stopped || Acknowledged() < m_offered)
    {
        return;
    }
    m_completed = Now();
    // ns-3 sends no FIN behind a last segment that was a repeated one. Not within its own handling of the acknowledgement.
    ns3::Simulator::ScheduleNow(&TcpConnection::Close, m_connection);
    m_announcements.Announce("flow_completed",
                                   std::nullopt,
                                   {{"flow", m_place.name},
                                    {"connection", m_number},
                                    {"bytes", m_offered},
                                    {"took_s", *m_completed - *m_started}});
}

std::uint64_t BulkTransfer::Acknowledged() const
{
    return m_connection ? m_offered - std::min<std::uint64_t>(m_offered, m_connection->GetTxBuffer()->Size()) : 0;
}

double BulkTransfer::Now() const
{
    return static_cast<double>(ns3::Simulator::Now().GetNanoSeconds() - m_began) / 1e9;
}

Json BulkTransfer::Read() const
{
    Json values = m_connection ? m_connection->Read() : Json::object();
    values["acknowledged"] = Acknowledged();
    values["started_s"] = OrNull(m_started);
    values["connected_s"] = OrNull(m_connected);
    values["completed_s"] = OrNull(m_completed);
    values["failure"] = m_failure.empty() ? Json() : Json(m_failure);
    return values;
}

} // namespace netboxit
