// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "device.h"
#include "packet_socket.h"

#include <array>
#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <vector>

namespace netboxit::click
{

/// A network interface, by a packet socket: collects what Click sends until it is flushed.
class PacketDevice : public Device
{
  public:
    /// Waits for the interface as long as `wait`, with these signals let in. Throws NoInterface,
    /// std::system_error; a signal ends the waiting with a NoInterface, too.
    PacketDevice(const std::string& name, std::chrono::milliseconds wait, const sigset_t& signals);

    int Descriptor() const override;
    bool Close() override;
    void Open() override;
    std::span<const Bytes> Receive() override;
    void Send(Bytes frame) override;
    void Flush() override;
    DeviceStatistics Read() override;

  private:
    using Room = std::array<std::uint8_t, MAXIMUM_FRAME>;

    NetworkInterface m_interface;
    std::optional<PacketSocket> m_socket;
    std::vector<Room> m_rooms;
    std::vector<Arrival> m_arrivals;
    std::vector<Bytes> m_received;
    std::vector<std::uint8_t> m_outgoing;
    std::vector<std::size_t> m_outgoingLengths;
};

} // namespace netboxit::click
