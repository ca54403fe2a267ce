// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "descriptor.h"
#include "network_interface.h"
#include "packet_ring.h"

namespace netboxit
{

/// A packet socket: received frames lie in a ring shared with the kernel, sent ones take one call for a batch.
/// Netboxes and the Click router share it.
///
/// There is no ring for sending: the kernel would send out of it without a copy, and calls a frame sent as soon
/// as the far end's socket has it, whose reader could then see the next frame's bytes in it.
class PacketSocket : public FrameSocket
{
  public:
    /// Receives from now on; the interface must exist. For frames of its MTU, or of this one where it is
    /// larger. Throws std::system_error.
    explicit PacketSocket(const NetworkInterface& interface, std::uint32_t mtu = 0);

    int Descriptor() const override
    {
        return m_socket.Get();
    }

    bool HasFrames() const override
    {
        return m_ring.HasFrames();
    }

    std::size_t Receive(std::span<Arrival> batch) override;
    void Send(std::span<Outgoing> frames) override;
    KernelDrops TakeDrops() override;

    std::size_t Capacity() const override
    {
        return m_ring.Capacity();
    }

    /// Whether the last Receive found that the interface went down or away.
    bool WentDown() const
    {
        return m_wentDown;
    }

  private:
    void SendSome(std::span<Outgoing> frames);

    std::string m_place; ///< "port commander, interface commander"
    bool m_wentDown{false};
    netboxit::Descriptor m_socket;
    PacketRing m_ring;
};

} // namespace netboxit
