// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "packet_socket.h"

#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace netboxit
{

/// An interface does not exist or is no more.
struct NoInterface : std::runtime_error
{
    using std::runtime_error::runtime_error;
};

/// What passed one interface. The names are those of a netbox's ports.
struct DeviceStatistics
{
    std::uint64_t received{};
    std::uint64_t sent{};
    std::uint64_t overloadDrops{}; ///< the kernel's socket buffer was full
    std::uint64_t oversizeDrops{}; ///< longer than MAXIMUM_FRAME
    std::uint64_t malformed{};     ///< shorter than an Ethernet header
    std::uint64_t sendDrops{};     ///< the kernel refused to send
};

/// An interface of the router: collects what Click sends until it is flushed, and counts.
class PacketDevice
{
  public:
    /// What Click's FromSimDevice takes at most.
    static constexpr std::size_t MAXIMUM_FRAME = 8192;

    /// Waits for the interface as long as `wait`, with these signals let in. Throws NoInterface,
    /// std::system_error; a signal ends the waiting with a NoInterface, too.
    PacketDevice(const std::string& name, std::chrono::milliseconds wait, const sigset_t& signals);

    int Descriptor() const
    {
        return m_socket.Descriptor();
    }

    /// Reads one batch and returns its frames, valid until the next call. Throws NoInterface when the
    /// interface was removed.
    std::span<const Bytes> Receive();

    /// Takes a copy of a frame, to be sent by the next Flush() at the latest.
    void Send(Bytes frame);
    void Flush();

    DeviceStatistics Read();

  private:
    using Room = std::array<std::uint8_t, VLAN_TAG + MAXIMUM_FRAME>;

    PacketSocket m_socket;
    DeviceStatistics m_statistics;
    std::vector<Room> m_rooms;
    std::vector<PacketSocket::Arrival> m_arrivals;
    std::vector<Bytes> m_received;
    std::vector<std::uint8_t> m_outgoing;
    std::vector<std::size_t> m_outgoingLengths;
};

} // namespace netboxit
