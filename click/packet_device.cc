// SPDX-License-Identifier: GPL-2.0-or-later
#include "packet_device.h"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>

#include <algorithm>
#include <cstring>
#include <thread>

namespace netboxit
{

namespace
{

/// Half a second of 100 Mbit/s of small frames: a burst survives until the router has its core again.
constexpr int RECEIVE_BUFFER = 8 << 20;
constexpr std::size_t ETHERNET_ADDRESSES = 12;

template <typename Value>
void
SetOption(const Descriptor& socket, int level, int option, const Value& value, const std::string& tried)
{
    Checked(::setsockopt(socket.Get(), level, option, &value, sizeof value), tried);
}

std::string
ExistingInterfaces()
{
    std::string names;
    if (struct if_nameindex* list = ::if_nameindex())
    {
        for (const auto* entry = list; entry->if_index != 0; ++entry)
        {
            names += (names.empty() ? "" : ", ") + std::string(entry->if_name);
        }
        ::if_freenameindex(list);
    }
    return names.empty() ? "none" : names;
}

const tpacket_auxdata*
Auxiliary(msghdr& message)
{
    for (auto* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part))
    {
        if (part->cmsg_level == SOL_PACKET && part->cmsg_type == PACKET_AUXDATA)
        {
            return reinterpret_cast<const tpacket_auxdata*>(CMSG_DATA(part));
        }
    }
    return nullptr;
}

} // namespace

int
WaitForInterface(const std::string& name, std::chrono::milliseconds wait)
{
    const auto deadline = std::chrono::steady_clock::now() + wait;
    for (;;)
    {
        if (const auto index = ::if_nametoindex(name.c_str()); index != 0)
        {
            return static_cast<int>(index);
        }
        if (std::chrono::steady_clock::now() >= deadline)
        {
            throw NoInterface("interface '" + name + "' is not in this network namespace, not even after " +
                              std::to_string(wait.count() / 1000) + " s; there are: " + ExistingInterfaces());
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
}

PacketDevice::PacketDevice(const std::string& name, std::chrono::milliseconds wait)
    : m_name(name),
      m_slots(BATCH),
      m_incoming(BATCH),
      m_incomingParts(BATCH)
{
    const int index = WaitForInterface(name, wait);
    for (std::size_t slot = 0; slot < BATCH; ++slot)
    {
        m_incomingParts[slot] = {m_slots[slot].bytes.data() + VLAN_TAG, MAXIMUM_FRAME};
        m_incoming[slot].msg_hdr.msg_iov = &m_incomingParts[slot];
        m_incoming[slot].msg_hdr.msg_iovlen = 1;
    }
    m_received.reserve(BATCH);
    Open(index);
}

void
PacketDevice::Open(int index)
{
    const auto on = "a packet socket on interface '" + m_name + "'";
    // Protocol 0 receives nothing: no frame of another interface slips in before bind().
    m_socket = Descriptor(::socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0),
                          on + " (needs the capability NET_RAW)");
    SetOption(m_socket, SOL_PACKET, PACKET_IGNORE_OUTGOING, 1, on + ", PACKET_IGNORE_OUTGOING");
    SetOption(m_socket, SOL_PACKET, PACKET_QDISC_BYPASS, 1, on + ", PACKET_QDISC_BYPASS");
    SetOption(m_socket, SOL_PACKET, PACKET_AUXDATA, 1, on + ", PACKET_AUXDATA");
    packet_mreq membership{};
    membership.mr_ifindex = index;
    membership.mr_type = PACKET_MR_PROMISC;
    SetOption(m_socket, SOL_PACKET, PACKET_ADD_MEMBERSHIP, membership, on + ", promiscuous");
    // Without the capability NET_ADMIN the host's limit applies, which is all that can be had then.
    if (::setsockopt(m_socket.Get(), SOL_SOCKET, SO_RCVBUFFORCE, &RECEIVE_BUFFER, sizeof RECEIVE_BUFFER) < 0)
    {
        SetOption(m_socket, SOL_SOCKET, SO_RCVBUF, RECEIVE_BUFFER, on + ", receive buffer");
    }
    sockaddr_ll address{};
    address.sll_family = AF_PACKET;
    address.sll_protocol = htons(ETH_P_ALL);
    address.sll_ifindex = index;
    Checked(::bind(m_socket.Get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), on + ", bind");
}

std::span<const std::span<const std::uint8_t>>
PacketDevice::Receive()
{
    for (std::size_t slot = 0; slot < BATCH; ++slot)
    {
        m_incoming[slot].msg_hdr.msg_control = m_slots[slot].control.data();
        m_incoming[slot].msg_hdr.msg_controllen = m_slots[slot].control.size();
    }
    m_received.clear();
    const int count = ::recvmmsg(m_socket.Get(), m_incoming.data(), BATCH, MSG_DONTWAIT | MSG_TRUNC, nullptr);
    if (count < 0)
    {
        if (errno == ENETDOWN)
        {
            FailIfGone();
        }
        else if (errno != EAGAIN && errno != EINTR)
        {
            Checked(count, "receiving on interface '" + m_name + "'");
        }
        return {};
    }
    for (std::size_t slot = 0; slot < static_cast<std::size_t>(count); ++slot)
    {
        Accept(slot);
    }
    return m_received;
}

/// The kernel reports "network is down" for an interface that was set down, which may come back, and for one that was removed.
void
PacketDevice::FailIfGone()
{
    if (::if_nametoindex(m_name.c_str()) == 0)
    {
        throw NoInterface("interface '" + m_name + "' was removed while the router used it");
    }
}

void
PacketDevice::Accept(std::size_t slot)
{
    const std::size_t length = m_incoming[slot].msg_len;
    ++m_statistics.received;
    if (length < ETH_HLEN)
    {
        ++m_statistics.malformed;
        return;
    }
    auto* start = m_slots[slot].bytes.data() + VLAN_TAG;
    const auto* auxiliary = Auxiliary(m_incoming[slot].msg_hdr);
    const bool tagged = auxiliary != nullptr && (auxiliary->tp_status & TP_STATUS_VLAN_VALID) != 0;
    if (length + (tagged ? VLAN_TAG : 0) > MAXIMUM_FRAME)
    {
        ++m_statistics.oversizeDrops;
        return;
    }
    if (!tagged)
    {
        m_received.emplace_back(start, length);
        return;
    }
    const bool ownProtocol = (auxiliary->tp_status & TP_STATUS_VLAN_TPID_VALID) != 0;
    const std::array<std::uint16_t, 2> tag{htons(ownProtocol ? auxiliary->tp_vlan_tpid : ETH_P_8021Q),
                                           htons(auxiliary->tp_vlan_tci)};
    start -= VLAN_TAG;
    std::memmove(start, start + VLAN_TAG, ETHERNET_ADDRESSES);
    std::memcpy(start + ETHERNET_ADDRESSES, tag.data(), VLAN_TAG);
    m_received.emplace_back(start, length + VLAN_TAG);
}

void
PacketDevice::Send(std::span<const std::uint8_t> frame)
{
    m_outgoing.insert(m_outgoing.end(), frame.begin(), frame.end());
    m_outgoingLengths.push_back(frame.size());
    if (m_outgoingLengths.size() == BATCH)
    {
        Flush();
    }
}

void
PacketDevice::Flush()
{
    std::array<iovec, BATCH> parts;
    std::array<mmsghdr, BATCH> messages{};
    const std::size_t count = m_outgoingLengths.size();
    std::uint8_t* at = m_outgoing.data();
    for (std::size_t index = 0; index < count; ++index)
    {
        parts[index] = {at, m_outgoingLengths[index]};
        messages[index].msg_hdr.msg_iov = &parts[index];
        messages[index].msg_hdr.msg_iovlen = 1;
        at += m_outgoingLengths[index];
    }
    for (std::size_t index = 0; index < count;)
    {
        const int sent = ::sendmmsg(m_socket.Get(), messages.data() + index, static_cast<unsigned>(count - index), MSG_DONTWAIT);
        // A refusal concerns the first frame that is left: too long for the interface, no buffer, interface down.
        m_statistics.sent += sent > 0 ? static_cast<std::uint64_t>(sent) : 0;
        m_statistics.sendDrops += sent > 0 || errno == EINTR ? 0 : 1;
        index += sent > 0 ? static_cast<std::size_t>(sent) : (errno == EINTR ? 0 : 1);
    }
    m_outgoing.clear();
    m_outgoingLengths.clear();
}

DeviceStatistics
PacketDevice::Read()
{
    tpacket_stats kernel{};
    socklen_t size = sizeof kernel;
    // Reading sets the kernel's counters back to zero.
    if (::getsockopt(m_socket.Get(), SOL_PACKET, PACKET_STATISTICS, &kernel, &size) == 0)
    {
        m_statistics.overloadDrops += kernel.tp_drops;
    }
    return m_statistics;
}

} // namespace netboxit
