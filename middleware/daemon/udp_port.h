// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "datagram.h"
#include "descriptor.h"

#include <poll.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace netboxit::middleware
{

/// A port of UDP with IPv4 and IPv6, on all addresses of the host, which says at which of them a datagram came and sends from the
/// one that it is told. What it sends has the DSCP of network control (CS6), so that queues on the path may prefer it, and UDP's
/// checksum.
class UdpPort
{
  public:
    struct Arrival
    {
        std::span<const std::uint8_t> bytes; ///< until the next call; of a longer one the beginning
        Address from;
        HostAddress at;
    };

    /// Throws std::system_error, also where another program has the port. A host may have one version of IP only.
    explicit UdpPort(std::uint16_t number);

    /// Is in an IPv4 multicast group from now on, by the interface by which packets to `source` leave. Returns what the system
    /// answers where it does not let it in, or an empty text, also where it was in the group before.
    std::string Join(const HostAddress& group, const HostAddress& source);

    void AddTo(std::vector<pollfd>& polled) const;

    /// Hands over what came, at most MOST_AT_ONCE of each version.
    template <typename Taker>
    void Receive(Taker&& take)
    {
        for (const auto& socket : m_sockets)
        {
            for (unsigned count = 0; count < MOST_AT_ONCE && ReadFrom(socket); ++count)
            {
                take(m_arrival);
            }
        }
    }

    /// Sends to an address, from datagram.from where it says one, and to a group by the interface that has that address; it does
    /// not wait. Returns what the system answers where it does not take the datagram, or an empty text.
    std::string Send(const Datagram& datagram, const Address& to);

  private:
    /// So that timers are not late while somebody floods the port. Our own choice.
    static constexpr unsigned MOST_AT_ONCE = 64;

    struct Socket
    {
        int family;
        Descriptor descriptor;
    };

    bool ReadFrom(const Socket& socket);

    std::vector<Socket> m_sockets;
    std::vector<std::uint8_t> m_buffer;
    Arrival m_arrival{};
};

} // namespace netboxit::middleware
