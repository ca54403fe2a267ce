// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "flow.h"

namespace netboxit
{

/// Takes what comes to a UDP port, and counts it.
class DatagramSink : public Flow
{
  public:
    DatagramSink(const FlowPlace& place, std::uint16_t port);
    ~DatagramSink() override;

    void Begin() override;
    Json Read() const override;
    void Reset() override;

  private:
    void Listen(bool isIpv6, std::uint16_t port);
    void Take(ns3::Ptr<ns3::Socket> socket);

    FlowPlace m_place;
    std::vector<ns3::Ptr<ns3::Socket>> m_sockets; ///< of IPv4, and of IPv6
    std::uint64_t m_received{0};
    std::uint64_t m_bytes{0};
    std::int64_t m_first{0}; ///< ns since 1970
    std::int64_t m_last{0};
};

std::unique_ptr<Flow> MakeDatagramSink(const FlowPlace& place, Section& configuration);

} // namespace netboxit
