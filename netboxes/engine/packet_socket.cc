// SPDX-License-Identifier: GPL-2.0-or-later
#include "packet_socket.h"

#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <arpa/inet.h>
#include <cstring>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <stdexcept>

namespace netboxit
{

namespace
{

/// Some 5000 small frames: what arrives in 50 ms at the highest rate measured.
constexpr int RECEIVE_BUFFER = 4 << 20;

/// What the kernel says beside each frame: its time of arrival, and the VLAN tag that it took out.
struct Ancillary
{
    std::int64_t stamp{0};
    bool tagged{false};
    bool checksumMissing{false};
    std::uint16_t tagType{ether_type::VLAN};
    std::uint16_t tag{0};
};

constexpr std::size_t ANCILLARY_BYTES = CMSG_SPACE(sizeof(timespec)) + CMSG_SPACE(sizeof(tpacket_auxdata));

Ancillary ReadAncillary(msghdr& message)
{
    Ancillary result;
    for (auto* item = CMSG_FIRSTHDR(&message); item != nullptr; item = CMSG_NXTHDR(&message, item))
    {
        if (item->cmsg_level == SOL_SOCKET && item->cmsg_type == SCM_TIMESTAMPNS)
        {
            timespec time{};
            std::memcpy(&time, CMSG_DATA(item), sizeof time);
            result.stamp = time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
        }
        else if (item->cmsg_level == SOL_PACKET && item->cmsg_type == PACKET_AUXDATA)
        {
            tpacket_auxdata data{};
            std::memcpy(&data, CMSG_DATA(item), sizeof data);
            result.checksumMissing = (data.tp_status & TP_STATUS_CSUMNOTREADY) != 0;
            result.tagged = (data.tp_status & TP_STATUS_VLAN_VALID) != 0;
            result.tag = data.tp_vlan_tci;
            if ((data.tp_status & TP_STATUS_VLAN_TPID_VALID) != 0)
            {
                result.tagType = data.tp_vlan_tpid;
            }
        }
    }
    return result;
}

/// Puts the VLAN tag back behind the addresses, into the room in front.
std::uint8_t* RestoreTag(std::uint8_t* frame, const Ancillary& ancillary)
{
    std::memmove(frame - VLAN_TAG, frame, 12);
    const std::uint16_t tag[2]{htons(ancillary.tagType), htons(ancillary.tag)};
    std::memcpy(frame - VLAN_TAG + 12, tag, VLAN_TAG);
    return frame - VLAN_TAG;
}

/// Frames can be lost by these, and nothing is wrong with the program: no room, the interface is down, gone,
/// or has a smaller MTU.
bool IsLossOfFrame(int error)
{
    return error == EAGAIN || error == ENOBUFS || error == ENETDOWN || error == ENXIO || error == ENODEV ||
           error == EMSGSIZE;
}

void SetOption(int socket, int level, int option, int value, const std::string& tried)
{
    Checked(setsockopt(socket, level, option, &value, sizeof value), tried);
}

ifreq Request(const std::string& interface)
{
    ifreq request{};
    interface.copy(request.ifr_name, IFNAMSIZ - 1);
    return request;
}

} // namespace

PacketSocket::PacketSocket(std::string subject, std::string interface)
    : m_subject(std::move(subject)), m_interface(std::move(interface)),
      // Protocol 0 receives nothing: no frame of another interface slips in before Bind().
      m_socket(::socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0),
               m_subject + ": cannot open a packet socket (it takes CAP_NET_RAW)")
{
    if (m_interface.size() >= IFNAMSIZ)
    {
        throw std::runtime_error(m_subject + ": \"" + m_interface + "\" is no name of an interface");
    }
}

PacketSocket::State PacketSocket::InterfaceState() const
{
    auto request = Request(m_interface);
    if (::ioctl(m_socket.Get(), SIOCGIFFLAGS, &request) != 0)
    {
        return State::Absent;
    }
    return (request.ifr_flags & IFF_UP) != 0 ? State::Up : State::Down;
}

std::uint32_t PacketSocket::InterfaceMtu() const
{
    auto request = Request(m_interface);
    Checked(::ioctl(m_socket.Get(), SIOCGIFMTU, &request),
            m_subject + ": cannot ask for the MTU of " + m_interface);
    return static_cast<std::uint32_t>(request.ifr_mtu);
}

void PacketSocket::Bind()
{
    const auto tried = m_subject + ": cannot set up the packet socket of " + m_interface;
    const int socket = m_socket.Get();
    SetOption(socket, SOL_PACKET, PACKET_IGNORE_OUTGOING, 1, tried);
    SetOption(socket, SOL_PACKET, PACKET_QDISC_BYPASS, 1, tried);
    SetOption(socket, SOL_PACKET, PACKET_AUXDATA, 1, tried);
    SetOption(socket, SOL_SOCKET, SO_TIMESTAMPNS, 1, tried);
    if (setsockopt(socket, SOL_SOCKET, SO_RCVBUFFORCE, &RECEIVE_BUFFER, sizeof RECEIVE_BUFFER) != 0)
    {
        // Without CAP_NET_ADMIN: as much as net.core.rmem_max allows. ReceiveBuffer() tells how much that is.
        SetOption(socket, SOL_SOCKET, SO_RCVBUF, RECEIVE_BUFFER, tried);
    }
    socklen_t size = sizeof m_receiveBuffer;
    Checked(getsockopt(socket, SOL_SOCKET, SO_RCVBUF, &m_receiveBuffer, &size), tried);

    sockaddr_ll address{};
    address.sll_family = AF_PACKET;
    address.sll_protocol = htons(ETH_P_ALL);
    address.sll_ifindex = static_cast<int>(if_nametoindex(m_interface.c_str()));
    // Index 0 would mean every interface.
    Checked(address.sll_ifindex == 0 ? -1 : 0, tried);
    Checked(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), tried);
    packet_mreq membership{};
    membership.mr_ifindex = address.sll_ifindex;
    membership.mr_type = PACKET_MR_PROMISC;
    Checked(setsockopt(socket, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &membership, sizeof membership), tried);
}

std::size_t PacketSocket::Receive(std::span<Arrival> batch)
{
    std::array<mmsghdr, BATCH> messages{};
    std::array<iovec, BATCH> vectors;
    alignas(cmsghdr) std::array<std::array<std::uint8_t, ANCILLARY_BYTES>, BATCH> ancillaries;
    const auto size = std::min(batch.size(), BATCH);
    for (std::size_t i = 0; i < size; ++i)
    {
        vectors[i] = {batch[i].room.data(), batch[i].room.size()};
        messages[i].msg_hdr.msg_iov = &vectors[i];
        messages[i].msg_hdr.msg_iovlen = 1;
        messages[i].msg_hdr.msg_control = ancillaries[i].data();
        messages[i].msg_hdr.msg_controllen = ANCILLARY_BYTES;
    }
    const int received =
        ::recvmmsg(m_socket.Get(), messages.data(), static_cast<unsigned>(size), MSG_TRUNC, nullptr);
    m_wentDown = received < 0 && errno == ENETDOWN;
    if (received < 0)
    {
        if (errno != EINTR && !IsLossOfFrame(errno))
        {
            Checked(received, m_subject + ": cannot receive from " + m_interface);
        }
        return 0;
    }
    for (int i = 0; i < received; ++i)
    {
        const auto ancillary = ReadAncillary(messages[i].msg_hdr);
        const std::size_t length = messages[i].msg_len;
        // A frame without room for the addresses before a tag is not a frame: it stays as it is.
        const std::size_t tag = ancillary.tagged && length >= ETHERNET_HEADER ? VLAN_TAG : 0;
        auto& arrival = batch[i];
        auto* start = arrival.room.data();
        arrival.frame = {tag != 0 ? RestoreTag(start, ancillary) : start,
                         std::min(length, arrival.room.size()) + tag};
        arrival.length = length + tag;
        arrival.stamp = ancillary.stamp;
        arrival.checksumMissing = ancillary.checksumMissing;
    }
    return static_cast<std::size_t>(received);
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
    std::array<mmsghdr, BATCH> messages{};
    std::array<iovec, BATCH> vectors;
    for (std::size_t i = 0; i < frames.size(); ++i)
    {
        vectors[i] = {const_cast<std::uint8_t*>(frames[i].frame.data()), frames[i].frame.size()};
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
                Checked(-1, m_subject + ": cannot send to " + m_interface);
            }
            // The refusal is that of the first of the rest.
            frames[next++].taken = false;
        }
    }
}

std::uint64_t PacketSocket::TakeDrops()
{
    tpacket_stats statistics{};
    socklen_t size = sizeof statistics;
    // The kernel starts both numbers anew with each reading.
    Checked(getsockopt(m_socket.Get(), SOL_PACKET, PACKET_STATISTICS, &statistics, &size),
            m_subject + ": cannot read the kernel's drops");
    return statistics.tp_drops;
}

} // namespace netboxit
