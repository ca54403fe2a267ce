// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "descriptor.h"
#include "headers.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace netboxit
{

/// A packet socket on one network interface: whole Ethernet frames in batches, VLAN tag included, whoever
/// they are for, and none of those that go out there. It knows nothing of ns-3: netboxes and the Click router
/// share it.
class PacketSocket
{
  public:
    /// Frames that one call into the kernel moves at most.
    static constexpr std::size_t BATCH = 64;

    /// A frame that came in.
    struct Arrival
    {
        /// Where to receive it. VLAN_TAG bytes in front of it belong to it, too: a tag that the kernel took
        /// out of the frame is put back.
        std::span<std::uint8_t> room;
        Bytes frame;            ///< as much of it as had room
        std::size_t length{};   ///< of the whole frame
        std::int64_t stamp{};   ///< when it arrived, ns since 1970
        bool checksumMissing{}; ///< left to an offload by the sending kernel
    };

    /// A frame that shall go out.
    struct Outgoing
    {
        Bytes frame;
        bool taken{}; ///< the kernel took it
    };

    enum class State
    {
        Absent,
        Down,
        Up,
    };

    /// `subject` begins the messages of all errors ("port commander"). Throws std::system_error.
    PacketSocket(std::string subject, std::string interface);

    /// What the interface is now.
    State InterfaceState() const;
    /// Begins to receive; the interface must exist.
    void Bind();

    int Descriptor() const
    {
        return m_socket.Get();
    }

    const std::string& Interface() const
    {
        return m_interface;
    }

    std::uint32_t InterfaceMtu() const;

    int ReceiveBuffer() const
    {
        return m_receiveBuffer;
    }

    /// Receives into the rooms of `batch`, and returns how many; never waits.
    std::size_t Receive(std::span<Arrival> batch);

    /// Whether the last Receive found that the interface went down or away.
    bool WentDown() const
    {
        return m_wentDown;
    }

    /// Sends, and says of each frame whether the kernel took it; never waits.
    void Send(std::span<Outgoing> frames);
    /// Frames that the kernel dropped since the last call because nobody received them in time.
    std::uint64_t TakeDrops();

  private:
    void SendSome(std::span<Outgoing> frames);

    std::string m_subject;
    std::string m_interface;
    int m_receiveBuffer{0};
    bool m_wentDown{false};
    netboxit::Descriptor m_socket;
};

} // namespace netboxit
