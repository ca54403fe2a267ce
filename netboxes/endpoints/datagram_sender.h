// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "address_resolution.h"
#include "datagram_source.h"
#include "flow.h"

#include "ns3/event-id.h"

#include <functional>

namespace netboxit
{

struct DatagramSenderConfiguration
{
    IpAddress destination;
    std::uint16_t port;
    std::uint16_t sourcePort; ///< 0: any
    std::uint8_t trafficClass;
    std::int64_t start; ///< ns of the network's time
    bool resolves;      ///< has the path resolve addresses before that begins
    std::function<std::unique_ptr<DatagramSource>()> source;
};

/// Sends UDP datagrams at their times.
class DatagramSender : public Flow
{
  public:
    DatagramSender(const FlowPlace& place, DatagramSenderConfiguration configuration);
    ~DatagramSender() override;

    void Prepare() override;
    void Begin() override;
    Json Read() const override;
    void Reset() override;

  private:
    void Expect();
    void SendNext();
    ns3::Ptr<ns3::Packet> Payload();

    FlowPlace m_place;
    DatagramSenderConfiguration m_configuration;
    AddressResolution m_resolution;
    ns3::Ptr<ns3::Socket> m_socket;
    std::unique_ptr<DatagramSource> m_source;
    std::optional<DatagramSource::Datagram> m_next;
    ns3::EventId m_departure;
    std::vector<std::uint8_t> m_payload;
    std::int64_t m_began{0};
    std::uint64_t m_number{0};
    std::uint64_t m_sent{0};
    std::uint64_t m_bytes{0};
    std::uint64_t m_refused{0};
};

std::unique_ptr<Flow> MakeDatagramSender(const FlowPlace& place, Section& configuration);

} // namespace netboxit
