// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "tcp_listener.h"

#include <list>

namespace netboxit
{

/// Accepts TCP connections at a port, takes all their data at once, and counts it.
class BulkSink : public Flow
{
  public:
    BulkSink(const FlowPlace& place, std::uint16_t port, const TcpOptions& options);
    ~BulkSink() override;

    void Begin() override;
    Json Read() const override;
    void Reset() override;

  private:
    struct Reception
    {
        ns3::Ptr<TcpConnection> connection; ///< none when it is over
        std::string peer;
        std::uint64_t bytes;
        std::int64_t first; ///< byte, ns since 1970
        std::int64_t last;
    };

    void Accept(const ns3::Ptr<TcpConnection>& connection, const ns3::Address& from);
    void Take(ns3::Ptr<ns3::Socket> socket);
    void End(ns3::Ptr<ns3::Socket> socket);
    void Forget(ns3::Ptr<ns3::Socket> socket);

    FlowPlace m_place;
    std::list<Reception> m_receptions; ///< the latest ones
    std::uint64_t m_received{0};
    std::uint64_t m_accepted{0};
    TcpListener m_listener;
};

std::unique_ptr<Flow> MakeBulkSink(const FlowPlace& place, Section& configuration);

} // namespace netboxit
