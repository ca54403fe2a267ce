// SPDX-License-Identifier: GPL-2.0-or-later
#include "packet_port.h"

#include <net/if.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <arpa/inet.h>
#include <cstring>
#include <linux/if_ether.h>
#include <linux/if_packet.h>

namespace netboxit
{

namespace
{

constexpr std::size_t BATCH = 64;
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

/// Puts the VLAN tag back behind the addresses; the slot has room for it in front.
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

} // namespace

PacketPort::PacketPort(std::string name,
                       std::string interface,
                       std::uint32_t mtu,
                       std::chrono::milliseconds patience,
                       EndSignal& end)
    : m_name(std::move(name)), m_interface(std::move(interface)), m_mtu(mtu),
      m_socket(::socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0),
               "port " + m_name + ": cannot open a packet socket (it takes CAP_NET_RAW)")
{
    Bind(WaitForInterface(patience, end));
}

int PacketPort::WaitForInterface(std::chrono::milliseconds patience, EndSignal& end) const
{
    constexpr int PAUSE_MS = 20;
    if (m_interface.size() >= IFNAMSIZ)
    {
        throw std::runtime_error("port " + m_name + ": \"" + m_interface + "\" is no name of an interface");
    }
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (true)
    {
        ifreq request{};
        m_interface.copy(request.ifr_name, IFNAMSIZ - 1);
        const bool exists = ::ioctl(m_socket.Get(), SIOCGIFFLAGS, &request) == 0;
        if (exists && (request.ifr_flags & IFF_UP) != 0)
        {
            return static_cast<int>(if_nametoindex(m_interface.c_str()));
        }
        if (std::chrono::steady_clock::now() > deadline)
        {
            throw std::runtime_error("port " + m_name + ": interface " + m_interface +
                                     (exists ? " is not up" : " does not exist") + ", waited for " +
                                     std::to_string(patience.count()) + " ms");
        }
        pollfd wait{end.Descriptor(), POLLIN, 0};
        ::poll(&wait, 1, PAUSE_MS);
        if (end.HasCome())
        {
            throw Interrupted();
        }
    }
}

void PacketPort::Bind(int index)
{
    const auto tried = "port " + m_name + ": cannot set up the packet socket of " + m_interface;
    const int socket = m_socket.Get();
    SetOption(socket, SOL_PACKET, PACKET_IGNORE_OUTGOING, 1, tried);
    SetOption(socket, SOL_PACKET, PACKET_QDISC_BYPASS, 1, tried);
    SetOption(socket, SOL_PACKET, PACKET_AUXDATA, 1, tried);
    SetOption(socket, SOL_SOCKET, SO_TIMESTAMPNS, 1, tried);
    if (setsockopt(socket, SOL_SOCKET, SO_RCVBUFFORCE, &RECEIVE_BUFFER, sizeof RECEIVE_BUFFER) != 0)
    {
        // Without CAP_NET_ADMIN: as much as net.core.rmem_max allows. Describe() tells how much that is.
        SetOption(socket, SOL_SOCKET, SO_RCVBUF, RECEIVE_BUFFER, tried);
    }
    socklen_t size = sizeof m_receiveBuffer;
    Checked(getsockopt(socket, SOL_SOCKET, SO_RCVBUF, &m_receiveBuffer, &size), tried);

    sockaddr_ll address{};
    address.sll_family = AF_PACKET;
    address.sll_protocol = htons(ETH_P_ALL);
    address.sll_ifindex = index;
    Checked(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), tried);
    packet_mreq membership{};
    membership.mr_ifindex = index;
    membership.mr_type = PACKET_MR_PROMISC;
    Checked(setsockopt(socket, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &membership, sizeof membership), tried);
    if (m_mtu == 0)
    {
        ifreq request{};
        m_interface.copy(request.ifr_name, IFNAMSIZ - 1);
        Checked(::ioctl(socket, SIOCGIFMTU, &request), tried);
        m_mtu = static_cast<std::uint32_t>(request.ifr_mtu);
    }
}

const std::string& PacketPort::Name() const
{
    return m_name;
}

std::uint32_t PacketPort::Mtu() const
{
    return m_mtu;
}

int PacketPort::Descriptor() const
{
    return m_socket.Get();
}

std::size_t PacketPort::Receive(std::span<Reception> batch)
{
    std::array<mmsghdr, BATCH> messages{};
    std::array<iovec, BATCH> vectors;
    alignas(cmsghdr) std::array<std::array<std::uint8_t, ANCILLARY_BYTES>, BATCH> ancillaries;
    const auto size = std::min(batch.size(), BATCH);
    for (std::size_t i = 0; i < size; ++i)
    {
        const auto room = batch[i].slot->room;
        vectors[i] = {room.data(), room.size()};
        messages[i].msg_hdr.msg_iov = &vectors[i];
        messages[i].msg_hdr.msg_iovlen = 1;
        messages[i].msg_hdr.msg_control = ancillaries[i].data();
        messages[i].msg_hdr.msg_controllen = ANCILLARY_BYTES;
    }
    const int received =
        ::recvmmsg(m_socket.Get(), messages.data(), static_cast<unsigned>(size), MSG_TRUNC, nullptr);
    if (received < 0)
    {
        if (errno != EINTR && !IsLossOfFrame(errno))
        {
            Checked(received, "port " + m_name + ": cannot receive from " + m_interface);
        }
        return 0;
    }
    std::size_t accepted = 0;
    for (int i = 0; i < received; ++i)
    {
        const auto ancillary = ReadAncillary(messages[i].msg_hdr);
        const std::size_t length = messages[i].msg_len;
        if (!Accept(length < ETHERNET_HEADER || !ancillary.tagged ? length : length + VLAN_TAG))
        {
            continue;
        }
        counters.checksumsMissing += ancillary.checksumMissing;
        auto& slot = *batch[i].slot;
        auto* frame = slot.room.data();
        slot.bytes =
            ancillary.tagged ? Bytes(RestoreTag(frame, ancillary), length + VLAN_TAG) : Bytes(frame, length);
        batch[i].stamp = ancillary.stamp;
        std::swap(batch[accepted++], batch[i]);
    }
    return accepted;
}

void PacketPort::Send(std::span<Departure> departures, std::int64_t)
{
    while (!departures.empty())
    {
        const auto some = std::min(departures.size(), BATCH);
        SendSome(departures.first(some));
        departures = departures.subspan(some);
    }
}

void PacketPort::SendSome(std::span<Departure> departures)
{
    std::array<mmsghdr, BATCH> messages{};
    std::array<iovec, BATCH> vectors;
    for (std::size_t i = 0; i < departures.size(); ++i)
    {
        const auto bytes = departures[i].slot->bytes;
        vectors[i] = {const_cast<std::uint8_t*>(bytes.data()), bytes.size()};
        messages[i].msg_hdr.msg_iov = &vectors[i];
        messages[i].msg_hdr.msg_iovlen = 1;
    }
    for (std::size_t next = 0; next < departures.size();)
    {
        const auto rest = static_cast<unsigned>(departures.size() - next);
        const int sent = ::sendmmsg(m_socket.Get(), &messages[next], rest, MSG_DONTWAIT);
        if (sent > 0)
        {
            for (int i = 0; i < sent; ++i)
            {
                departures[next++].taken = true;
            }
            counters.sent += static_cast<std::uint64_t>(sent);
        }
        else if (errno != EINTR)
        {
            if (!IsLossOfFrame(errno))
            {
                Checked(-1, "port " + m_name + ": cannot send to " + m_interface);
            }
            ++counters.sendDrops;
            ++next;
        }
    }
}

void PacketPort::Refresh()
{
    tpacket_stats statistics{};
    socklen_t size = sizeof statistics;
    Checked(getsockopt(m_socket.Get(), SOL_PACKET, PACKET_STATISTICS, &statistics, &size),
            "port " + m_name + ": cannot read the kernel's drops");
    // The kernel starts both numbers anew with each reading.
    counters.received += statistics.tp_drops;
    counters.overloadDrops += statistics.tp_drops;
}

Json PacketPort::Describe() const
{
    return {{"name", m_name},
            {"kind", "packet"},
            {"interface", m_interface},
            {"mtu", m_mtu},
            {"receive_buffer_bytes", m_receiveBuffer}};
}

} // namespace netboxit
