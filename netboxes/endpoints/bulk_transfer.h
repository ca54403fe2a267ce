// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "flow.h"
#include "tcp_connection.h"

#include <optional>

namespace netboxit
{

/// What a bulk sender is asked to send in each of its connections.
struct BulkSenderConfiguration
{
    IpAddress destination;
    std::uint16_t port;
    std::uint16_t sourcePort; ///< of the first connection, the others' follow; 0: any
    std::uint8_t trafficClass;
    std::int64_t start;                ///< ns of the network's time
    std::optional<std::uint64_t> size; ///< bytes; without, until a time
    std::optional<std::int64_t> until; ///< ns of the network's time
    unsigned parallel;
    TcpOptions tcp;
};

/// One TCP connection that sends as fast as it can.
class BulkTransfer
{
  public:
    BulkTransfer(const FlowPlace& place, const BulkSenderConfiguration& configuration, unsigned number);
    ~BulkTransfer();
    BulkTransfer(const BulkTransfer&) = delete;
    BulkTransfer& operator=(const BulkTransfer&) = delete;

    /// `began` is the network's time 0, ns.
    void Start(std::int64_t began);
    /// Sends what is in the buffer, and no more.
    void Stop();
    void Abort();
    Json Read() const;

  private:
    void Connected(ns3::Ptr<ns3::Socket> socket);
    void Failed(ns3::Ptr<ns3::Socket> socket);
    void Feed(ns3::Ptr<ns3::Socket> socket, std::uint32_t room);
    void LookForCompletion();
    void Fail(const std::string& reason);
    std::uint64_t Acknowledged() const;
    double Now() const;

    FlowPlace m_place;
    Announcements& m_announcements;
    const BulkSenderConfiguration& m_configuration;
    unsigned m_number;
    ns3::Ptr<TcpConnection> m_connection;
    std::int64_t m_began{0};
    std::uint64_t m_offered{0}; ///< bytes that the socket has taken
    bool m_stopped{false};
    std::optional<double> m_started;   ///< s of the network's time
    std::optional<double> m_connected;
    std::optional<double> m_completed;
    std::string m_failure;
};

} // namespace netboxit
