// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "frame_socket.h"
#include "xdp_memory.h"
#include "xdp_program.h"

#include <linux/if_xdp.h>

namespace netboxit
{

/// An AF_XDP socket on an interface with one receive queue, in native mode: frames lie in memory shared with
/// the kernel, which takes them there straight from the far end of a veth pair, before its own stack sees them.
/// Receiving takes no call into the kernel, sending one for up to 32 frames.
class XdpSocket : public FrameSocket
{
  public:
    /// For frames of the interface's MTU. Throws std::runtime_error, with cause and remedy.
    explicit XdpSocket(const NetworkInterface& interface);

    int Descriptor() const override;
    bool HasFrames() const override;
    std::size_t Receive(std::span<Arrival> batch) override;
    void Send(std::span<Outgoing> frames) override;
    KernelDrops TakeDrops() override;
    std::size_t Capacity() const override;

  private:
    struct Closer
    {
        void operator()(xsk_socket* socket) const
        {
            xsk_socket__delete(socket);
        }
    };

    void Open(const NetworkInterface& interface);
    /// Puts frames into the sending ring, and returns the place of the first.
    std::uint32_t Describe(std::span<const Outgoing> frames);
    /// Has the kernel take them from there.
    void Hand(std::span<Outgoing> frames, std::uint32_t first);
    /// Takes back what the kernel has left there.
    void Withdraw(std::span<Outgoing> frames, std::uint32_t first);
    void FollowTai();

    std::string m_place; ///< "port commander, interface commander"
    std::size_t m_longest; ///< frame that the far end takes
    XdpMemory m_memory;
    // The rings are libxdp's, which expects them to be zero at first.
    xsk_ring_cons m_received{};
    xsk_ring_prod m_sending{};
    std::unique_ptr<xsk_socket, Closer> m_socket;
    XdpProgram m_program;
    xdp_statistics m_seen{};
    std::int64_t m_taiOffset{0}; ///< CLOCK_TAI minus CLOCK_REALTIME, ns
};

} // namespace netboxit
