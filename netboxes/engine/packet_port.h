// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "loop.h"
#include "packet_socket.h"
#include "port.h"

#include <chrono>

namespace netboxit
{

/// A port on a network interface by a packet socket: all frames that arrive there, whoever they are for, in
/// batches.
class PacketPort : public Port
{
  public:
    /// Waits for the interface to appear and to be up, at most for `patience`; throws std::runtime_error that
    /// says what is missing. An end signal ends the waiting with Interrupted. `mtu` 0: the interface's.
    PacketPort(std::string name,
               std::string interface,
               std::uint32_t mtu,
               std::chrono::milliseconds patience,
               EndSignal& end);

    const std::string& Name() const override;
    std::uint32_t Mtu() const override;
    int Descriptor() const override;
    std::size_t Receive(std::span<Reception> batch) override;
    void Send(std::span<Departure> departures, std::int64_t stamp) override;
    /// Counts the kernel's drops.
    void Refresh() override;
    Json Describe() const override;

  private:
    void WaitForInterface(std::chrono::milliseconds patience, EndSignal& end) const;

    std::string m_name;
    PacketSocket m_socket;
    std::uint32_t m_mtu;
};

} // namespace netboxit
