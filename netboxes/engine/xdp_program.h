// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "descriptor.h"
#include "network_interface.h"

namespace netboxit
{

/// The program at an interface that hands its frames to an AF_XDP socket, each with the time of its arrival in
/// front. It is attached by a link: gone when this process is, however that ends.
class XdpProgram
{
  public:
    /// Bytes that the program writes in front of a frame: nanoseconds of CLOCK_TAI.
    static constexpr std::size_t STAMP = sizeof(std::uint64_t);

    /// Attaches in native mode. Throws std::system_error, std::runtime_error, with cause and remedy.
    explicit XdpProgram(const NetworkInterface& interface);

    /// Where the program finds the socket of receive queue 0.
    int Sockets() const
    {
        return m_sockets.Get();
    }

  private:
    netboxit::Descriptor m_sockets;
    netboxit::Descriptor m_program;
    netboxit::Descriptor m_link;
};

/// Gives up what only attaching programs takes, CAP_NET_ADMIN and CAP_BPF, for the calling thread and those that
/// it starts. Throws std::system_error.
void GiveUpAttaching();

} // namespace netboxit
