// SPDX-License-Identifier: GPL-2.0-or-later
#include "raw_socket.h"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <system_error>

namespace netboxit::stock
{

namespace
{

/// As much as our own packet sockets ask for.
constexpr int RECEIVE_BUFFER = 4 << 20;

void Check(int result, const std::string& tried)
{
    if (result < 0)
    {
        throw std::system_error(errno, std::generic_category(), tried);
    }
}

ifreq Ask(int socket, unsigned long question, const std::string& interface)
{
    ifreq request{};
    interface.copy(request.ifr_name, IFNAMSIZ - 1);
    Check(::ioctl(socket, question, &request), "interface " + interface);
    return request;
}

} // namespace

RawSocket OpenRawSocket(const std::string& interface)
{
    // Protocol 0 receives nothing: no frame of another interface slips in before the socket is bound.
    RawSocket raw{::socket(AF_PACKET, SOCK_RAW, 0), {}, 0};
    Check(raw.descriptor, "packet socket (it takes CAP_NET_RAW)");
    sockaddr_ll where{};
    where.sll_family = AF_PACKET;
    where.sll_protocol = htons(ETH_P_ALL);
    where.sll_ifindex = Ask(raw.descriptor, SIOCGIFINDEX, interface).ifr_ifindex;
    Check(::setsockopt(raw.descriptor, SOL_SOCKET, SO_RCVBUF, &RECEIVE_BUFFER, sizeof RECEIVE_BUFFER),
          "receive buffer of " + interface);
    Check(::bind(raw.descriptor, reinterpret_cast<const sockaddr*>(&where), sizeof where), "bind to " + interface);
    const auto hardware = Ask(raw.descriptor, SIOCGIFHWADDR, interface);
    raw.address.CopyFrom(reinterpret_cast<const std::uint8_t*>(hardware.ifr_hwaddr.sa_data));
    raw.mtu = static_cast<std::uint16_t>(Ask(raw.descriptor, SIOCGIFMTU, interface).ifr_mtu);
    return raw;
}

} // namespace netboxit::stock
