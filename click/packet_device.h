// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "descriptor.h"

#include <sys/socket.h>

#include <array>
#include <chrono>
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

/// One Ethernet interface through a packet socket, in batches: every frame that comes in, VLAN tag included, and none of those going out.
class PacketDevice
{
  public:
    /// What Click's FromSimDevice takes at most.
    static constexpr std::size_t MAXIMUM_FRAME = 8192;
    static constexpr std::size_t BATCH = 64;

    /// Waits for the interface as long as `wait`; throws NoInterface, std::system_error.
    PacketDevice(const std::string& name, std::chrono::milliseconds wait);

    int Socket() const { return m_socket.Get(); }

    /// Reads one batch and returns its frames, valid until the next call. Throws NoInterface when the interface was removed.
    std::span<const std::span<const std::uint8_t>> Receive();

    /// Takes a copy of a frame, to be sent by the next Flush() at the latest.
    void Send(std::span<const std::uint8_t> frame);
    void Flush();

    DeviceStatistics Read();

  private:
    static constexpr std::size_t VLAN_TAG = 4;

    void Open(int index);
    void FailIfGone();
    void Accept(std::size_t slot);

    std::string m_name;
    Descriptor m_socket;
    DeviceStatistics m_statistics;

    struct Slot
    {
        /// Room for the tag that the kernel took out of the frame, in front.
        std::array<std::uint8_t, VLAN_TAG + MAXIMUM_FRAME> bytes;
        alignas(cmsghdr) std::array<std::byte, 64> control;
    };

    std::vector<Slot> m_slots;
    std::vector<mmsghdr> m_incoming;
    std::vector<iovec> m_incomingParts;
    std::vector<std::span<const std::uint8_t>> m_received;

    std::vector<std::uint8_t> m_outgoing;
    std::vector<std::size_t> m_outgoingLengths;
};

/// Index of an interface in this network namespace, waiting for it to appear; throws NoInterface with those that exist.
int WaitForInterface(const std::string& name, std::chrono::milliseconds wait);

} // namespace netboxit
