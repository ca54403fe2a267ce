// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "configuration.h"
#include "pcapng.h"
#include "port.h"
#include "virtual_wires.h"

#include <deque>

namespace netboxit
{

class Netbox;

/// A port in virtual time whose wire leads to another node of the same process.
class JoinedPort : public Port, public WireEndpoint
{
  public:
    /// `node` is its netbox's name.
    JoinedPort(const std::string& node, std::string name, const PortConfiguration& configuration, std::uint32_t mtu);

    /// Its netbox, and which station it is there.
    void BelongTo(Netbox& netbox, StationId station, VirtualWires& wires);

    /// From now on frames go to its capture, if it has one.
    void BeginCapture()
    {
        m_captures = m_capture.has_value();
    }

    int Descriptor() const override;
    std::size_t Receive(std::span<Reception> batch) override;
    void Send(std::span<Departure> departures, std::int64_t stamp) override;
    void Refresh() override;
    nlohmann::json Describe() const override;

    void Arrive(Bytes frame, std::int64_t stamp) override;
    void Enter() override;
    const std::string& WireName() const override;
    void Join(WireEndpoint& other) override;
    void SetCarrier(bool carrier) override;

  private:
    void Capture(std::int64_t stamp, Bytes frame);

    std::string m_wireName;
    std::optional<PcapngWriter> m_capture;
    bool m_captures{false};
    Netbox* m_netbox{};
    StationId m_station{};
    VirtualWires* m_wires{};
    std::size_t m_number{};
    WireEndpoint* m_other{};
    bool m_carrier{true};
    std::deque<Reception> m_arrived;
};

} // namespace netboxit
