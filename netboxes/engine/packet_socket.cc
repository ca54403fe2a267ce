// SPDX-License-Identifier: GPL-2.0-or-later
#include "packet_socket.h"

#include <sys/socket.h>

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <linux/if_ether.h>
#include <linux/if_packet.h>

namespace netboxit
{

namespace
{

void SetOption(int socket, int option, int value, const std::string& tried)
{
    Checked(setsockopt(socket, SOL_PACKET, option, &value, sizeof value), tried);
}

} // namespace

bool IsLossOfFrame(int error)
{
    return error == EAGAIN || error == ENOBUFS || error == ENETDOWN || error == ENXIO || error == ENODEV ||
           error == EMSGSIZE;
}

PacketSocket::PacketSocket(const NetworkInterface& interface, std::uint32_t mtu)
    : m_place(interface.Place()),
      // Protocol 0 receives nothing: no frame of another interface slips in before bind().
      m_socket(::socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0),
               m_place + ": cannot open a packet socket (it takes CAP_NET_RAW)")
{
    const auto tried = m_place + ": cannot set up the packet socket";
    const int socket = m_socket.Get();
    SetOption(socket, PACKET_IGNORE_OUTGOING, 1, tried);
    // On a wire of the lab's the short way to the other end; captures do not see what goes it. Where a frame leaves the
    // machine they have to: how long it is on its way to the next one is measured by them (results/tunnels.py).
    SetOption(socket, PACKET_QDISC_BYPASS, interface.Driver() == "veth" ? 1 : 0, tried);
    m_ring = PacketRing(socket, std::max(mtu, interface.Mtu()), tried);

    sockaddr_ll address{};
    address.sll_family = AF_PACKET;
    address.sll_protocol = htons(ETH_P_ALL);
    address.sll_ifindex = static_cast<int>(interface.Index());
    Checked(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), tried);
    packet_mreq membership{};
    membership.mr_ifindex = address.sll_ifindex;
    membership.mr_type = PACKET_MR_PROMISC;
    Checked(setsockopt(socket, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &membership, sizeof membership), tried);
}

std::size_t PacketSocket::Receive(std::span<Arrival> batch)
{
    const auto received = m_ring.Receive(batch);
    m_wentDown = false;
    if (received == 0)
    {
        // What made the descriptor readable may be an error, and it stays so until the error is taken.
        int error = 0;
        socklen_t size = sizeof error;
        Checked(getsockopt(m_socket.Get(), SOL_SOCKET, SO_ERROR, &error, &size),
                m_place + ": cannot ask for errors");
        m_wentDown = error == ENETDOWN;
        if (error != 0 && !IsLossOfFrame(error))
        {
            throw std::system_error(error, std::generic_category(), m_place + ": cannot receive");
        }
    }
    return received;
}

void PacketSocket::Send(std::span<Outgoing> frames)
{
    while (!frames.empty())
    {
        const auto some = std::min(frames.size(), BATCH);
        SendSome(frames.first(some));
        frames = frames.subspan(some);
    }
}

void PacketSocket::SendSome(std::span<Outgoing> frames)
{
    std::array<mmsghdr, BATCH> messages;
    std::array<iovec, BATCH> vectors;
    for (std::size_t i = 0; i < frames.size(); ++i)
    {
        vectors[i] = {const_cast<std::uint8_t*>(frames[i].frame.data()), frames[i].frame.size()};
        messages[i] = {};
        messages[i].msg_hdr.msg_iov = &vectors[i];
        messages[i].msg_hdr.msg_iovlen = 1;
    }
    for (std::size_t next = 0; next < frames.size();)
    {
        const auto rest = static_cast<unsigned>(frames.size() - next);
        const int sent = ::sendmmsg(m_socket.Get(), &messages[next], rest, MSG_DONTWAIT);
        if (sent > 0)
        {
            for (int i = 0; i < sent; ++i)
            {
                frames[next++].taken = true;
            }
        }
        else if (errno != EINTR)
        {
            if (!IsLossOfFrame(errno))
            {
                Checked(-1, m_place + ": cannot send");
            }
            // The refusal is that of the first of the rest.
            frames[next++].taken = false;
        }
    }
}

KernelDrops PacketSocket::TakeDrops()
{
    tpacket_stats statistics{};
    socklen_t size = sizeof statistics;
    // The kernel starts both numbers anew with each reading.
    Checked(getsockopt(m_socket.Get(), SOL_PACKET, PACKET_STATISTICS, &statistics, &size),
            m_place + ": cannot read the kernel's drops");
    return {.overload = statistics.tp_drops};
}

} // namespace netboxit
