// SPDX-License-Identifier: GPL-2.0-or-later
#include "packet_port.h"

#include <poll.h>

namespace netboxit
{

PacketPort::PacketPort(std::string name,
                       std::string interface,
                       std::uint32_t mtu,
                       std::chrono::milliseconds patience,
                       EndSignal& end)
    : m_name(std::move(name)), m_socket("port " + m_name, std::move(interface)), m_mtu(mtu)
{
    WaitForInterface(patience, end);
    m_socket.Bind();
    if (m_mtu == 0)
    {
        m_mtu = m_socket.InterfaceMtu();
    }
}

void PacketPort::WaitForInterface(std::chrono::milliseconds patience, EndSignal& end) const
{
    constexpr int PAUSE_MS = 20;
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (true)
    {
        const auto state = m_socket.InterfaceState();
        if (state == PacketSocket::State::Up)
        {
            return;
        }
        if (std::chrono::steady_clock::now() > deadline)
        {
            throw std::runtime_error("port " + m_name + ": interface " + m_socket.Interface() +
                                     (state == PacketSocket::State::Down ? " is not up" : " does not exist") +
                                     ", waited for " + std::to_string(patience.count()) + " ms");
        }
        pollfd wait{end.Descriptor(), POLLIN, 0};
        ::poll(&wait, 1, PAUSE_MS);
        if (end.HasCome())
        {
            throw Interrupted();
        }
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
    return m_socket.Descriptor();
}

std::size_t PacketPort::Receive(std::span<Reception> batch)
{
    std::array<PacketSocket::Arrival, PacketSocket::BATCH> arrivals;
    const auto size = std::min(batch.size(), PacketSocket::BATCH);
    for (std::size_t i = 0; i < size; ++i)
    {
        arrivals[i].room = batch[i].slot->room;
    }
    const auto received = m_socket.Receive(std::span(arrivals).first(size));
    std::size_t accepted = 0;
    for (std::size_t i = 0; i < received; ++i)
    {
        if (!Accept(arrivals[i].length))
        {
            continue;
        }
        counters.checksumsMissing += arrivals[i].checksumMissing;
        batch[i].slot->bytes = arrivals[i].frame;
        batch[i].stamp = arrivals[i].stamp;
        std::swap(batch[accepted++], batch[i]);
    }
    return accepted;
}

void PacketPort::Send(std::span<Departure> departures, std::int64_t)
{
    std::array<PacketSocket::Outgoing, PacketSocket::BATCH> frames;
    while (!departures.empty())
    {
        const auto some = std::span(frames).first(std::min(departures.size(), frames.size()));
        for (std::size_t i = 0; i < some.size(); ++i)
        {
            some[i] = {departures[i].slot->bytes, false};
        }
        m_socket.Send(some);
        for (std::size_t i = 0; i < some.size(); ++i)
        {
            departures[i].taken = some[i].taken;
            ++(some[i].taken ? counters.sent : counters.sendDrops);
        }
        departures = departures.subspan(some.size());
    }
}

void PacketPort::Refresh()
{
    const auto drops = m_socket.TakeDrops();
    counters.received += drops;
    counters.overloadDrops += drops;
}

Json PacketPort::Describe() const
{
    return {{"name", m_name},
            {"kind", "packet"},
            {"interface", m_socket.Interface()},
            {"mtu", m_mtu},
            {"receive_buffer_bytes", m_socket.ReceiveBuffer()}};
}

} // namespace netboxit
