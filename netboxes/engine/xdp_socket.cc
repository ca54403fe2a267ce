// SPDX-License-Identifier: GPL-2.0-or-later
#include "xdp_socket.h"

#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <ctime>
#include <stdexcept>
#include <thread>

namespace netboxit
{

namespace
{

constexpr int SEND_BUFFER = 4 << 20;
constexpr std::int64_t SECOND = 1'000'000'000;

const NetworkInterface& WithOneQueue(const NetworkInterface& interface)
{
    if (const auto queues = interface.ReceiveQueues(); queues != 1)
    {
        throw std::runtime_error(interface.Place() + ": it has " +
                                 std::to_string(queues) + " receive queues and one is served; `ethtool -L " +
                                 interface.Name() + " rx 1` leaves it one");
    }
    return interface;
}

std::int64_t Now(clockid_t clock)
{
    timespec time{};
    ::clock_gettime(clock, &time);
    return time.tv_sec * SECOND + time.tv_nsec;
}

std::uint32_t Consumed(const xsk_ring_prod& ring)
{
    return std::atomic_ref(*ring.consumer).load(std::memory_order_acquire);
}

} // namespace

XdpSocket::XdpSocket(const NetworkInterface& interface)
    : m_place(interface.Place()), m_longest(interface.Mtu() + ETHERNET_HEADER + VLAN_TAG), m_memory(interface),
      m_program(WithOneQueue(interface))
{
    Open(interface);
    m_memory.OfferAll();
    FollowTai();
    const int error = xsk_socket__update_xskmap(m_socket.get(), m_program.Sockets());
    if (error != 0)
    {
        throw std::system_error(-error, std::generic_category(), m_place + ": cannot send its frames to AF_XDP");
    }
}

void XdpSocket::Open(const NetworkInterface& interface)
{
    // The kernel lets go of a queue some milliseconds after the process that had it is gone.
    constexpr std::chrono::milliseconds PATIENCE{2000};
    constexpr std::chrono::milliseconds PAUSE{10};
    const auto deadline = std::chrono::steady_clock::now() + PATIENCE;
    xsk_socket_config configuration{};
    configuration.rx_size = XdpMemory::RECEIVE_CHUNKS;
    configuration.tx_size = XdpMemory::SEND_CHUNKS;
    configuration.libxdp_flags = XSK_LIBXDP_FLAGS__INHIBIT_PROG_LOAD;
    configuration.bind_flags = XDP_COPY | XDP_USE_NEED_WAKEUP;
    xsk_socket* socket = nullptr;
    int error = 0;
    while ((error = xsk_socket__create(&socket,
                                       interface.Name().c_str(),
                                       0,
                                       m_memory.Registered(),
                                       &m_received,
                                       &m_sending,
                                       &configuration)) == -EBUSY &&
           std::chrono::steady_clock::now() < deadline)
    {
        std::this_thread::sleep_for(PAUSE);
    }
    if (error != 0)
    {
        throw std::system_error(-error,
                                std::generic_category(),
                                m_place + ": cannot bind an AF_XDP socket" +
                                    (error == -EBUSY ? " (another one is bound to it)" : ""));
    }
    m_socket.reset(socket);
    if (setsockopt(Descriptor(), SOL_SOCKET, SO_SNDBUFFORCE, &SEND_BUFFER, sizeof SEND_BUFFER) != 0)
    {
        setsockopt(Descriptor(), SOL_SOCKET, SO_SNDBUF, &SEND_BUFFER, sizeof SEND_BUFFER);
    }
}

int XdpSocket::Descriptor() const
{
    return xsk_socket__fd(m_socket.get());
}

bool XdpSocket::HasFrames() const
{
    return std::atomic_ref(*m_received.producer).load(std::memory_order_acquire) != m_received.cached_cons;
}

std::size_t XdpSocket::Capacity() const
{
    return XdpMemory::RECEIVE_CHUNKS;
}

std::size_t XdpSocket::Receive(std::span<Arrival> batch)
{
    std::uint32_t from = 0;
    const auto received = xsk_ring_cons__peek(&m_received, static_cast<std::uint32_t>(batch.size()), &from);
    const auto back = m_memory.BeginGivingBack(received);
    for (std::uint32_t i = 0; i < received; ++i)
    {
        const auto* description = xsk_ring_cons__rx_desc(&m_received, from + i);
        auto* start = m_memory.At(description->addr);
        auto& arrival = batch[i];
        arrival.length = description->len;
        const auto some = std::min<std::size_t>(arrival.length, arrival.room.size());
        std::memcpy(arrival.room.data(), start, some);
        arrival.frame = arrival.room.first(some);
        std::int64_t stamp = 0;
        std::memcpy(&stamp, start - XdpProgram::STAMP, sizeof stamp);
        arrival.stamp = stamp == 0 ? 0 : stamp - m_taiOffset;
        arrival.checksumMissing = false;
        // Should there be no stamp before the next frame here, then this one is not taken for it.
        std::memset(start - XdpProgram::STAMP, 0, XdpProgram::STAMP);
        m_memory.GiveBack(back + i, description->addr);
    }
    m_memory.EndGivingBack(received);
    xsk_ring_cons__release(&m_received, received);
    return received;
}

void XdpSocket::Send(std::span<Outgoing> frames)
{
    m_memory.TakeBackSent();
    while (!frames.empty())
    {
        // The kernel would not look whether a frame is longer than the far end takes.
        const auto tooLong =
            std::ranges::find_if(frames, [this](const auto& one) { return one.frame.size() > m_longest; });
        const auto fitting = static_cast<std::size_t>(tooLong - frames.begin());
        const auto some = frames.first(std::min(fitting, m_memory.Free()));
        Hand(some, Describe(some));
        for (auto& refused : frames.subspan(some.size(), fitting - some.size()))
        {
            refused.taken = false;
        }
        if (tooLong != frames.end())
        {
            tooLong->taken = false;
        }
        frames = frames.subspan(std::min(fitting + 1, frames.size()));
    }
}

std::uint32_t XdpSocket::Describe(std::span<const Outgoing> frames)
{
    std::uint32_t first = 0;
    xsk_ring_prod__reserve(&m_sending, static_cast<std::uint32_t>(frames.size()), &first);
    auto place = first;
    for (const auto& [bytes, taken] : frames)
    {
        const auto chunk = m_memory.Take();
        std::memcpy(m_memory.At(chunk), bytes.data(), bytes.size());
        *xsk_ring_prod__tx_desc(&m_sending, place++) = {
            .addr = chunk, .len = static_cast<std::uint32_t>(bytes.size()), .options = 0};
    }
    xsk_ring_prod__submit(&m_sending, static_cast<std::uint32_t>(frames.size()));
    return first;
}

void XdpSocket::Hand(std::span<Outgoing> frames, std::uint32_t first)
{
    while (!frames.empty())
    {
        const int result = static_cast<int>(::sendto(Descriptor(), nullptr, 0, MSG_DONTWAIT, nullptr, 0));
        const int error = result < 0 ? errno : 0;
        if (error != 0 && error != EINTR && error != EBUSY && !IsLossOfFrame(error))
        {
            Checked(result, m_place + ": cannot send");
        }
        const auto taken = Consumed(m_sending) - first;
        for (auto& frame : frames.first(taken))
        {
            frame.taken = true;
        }
        if (error == EBUSY && taken != 0)
        {
            // The far end would not have the last of them.
            frames[taken - 1].taken = false;
        }
        first += taken;
        frames = frames.subspan(taken);
        if (taken == 0 && error != EINTR)
        {
            Withdraw(frames, first);
            return;
        }
    }
}

void XdpSocket::Withdraw(std::span<Outgoing> frames, std::uint32_t first)
{
    // The kernel looks at this ring within sendto and poll only, which no other thread calls: what it has left
    // there can be taken back, so that nothing is sent late.
    for (std::size_t i = frames.size(); i-- > 0;)
    {
        frames[i].taken = false;
        const auto place = first + static_cast<std::uint32_t>(i);
        m_memory.Return(xsk_ring_prod__tx_desc(&m_sending, place)->addr);
    }
    m_sending.cached_prod = first;
    std::atomic_ref(*m_sending.producer).store(first, std::memory_order_release);
}

KernelDrops XdpSocket::TakeDrops()
{
    FollowTai();
    xdp_statistics now{};
    socklen_t size = sizeof now;
    Checked(getsockopt(Descriptor(), SOL_XDP, XDP_STATISTICS, &now, &size),
            m_place + ": cannot read the kernel's drops");
    const auto fresh = [&](auto member) { return now.*member - m_seen.*member; };
    const auto unoffered = fresh(&xdp_statistics::rx_fill_ring_empty_descs);
    const KernelDrops drops{.overload = unoffered + fresh(&xdp_statistics::rx_ring_full),
                            // Counts those, too, that found no chunk offered. The rest did not fit into one.
                            .oversize = fresh(&xdp_statistics::rx_dropped) - unoffered};
    m_seen = now;
    return drops;
}

void XdpSocket::FollowTai()
{
    // Whole seconds: none at all unless a time server told of the leap seconds.
    const auto apart = Now(CLOCK_TAI) - Now(CLOCK_REALTIME);
    m_taiOffset = (apart + SECOND / 2) / SECOND * SECOND;
}

} // namespace netboxit
