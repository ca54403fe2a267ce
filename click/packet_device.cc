// SPDX-License-Identifier: GPL-2.0-or-later
#include "packet_device.h"

#include <net/if.h>
#include <poll.h>

namespace netboxit::click
{

namespace
{

std::string ExistingInterfaces()
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

std::string Missing(const std::string& name)
{
    return "interface '" + name + "' is not in this network namespace";
}

void WaitFor(const NetworkInterface& network, std::chrono::milliseconds wait, const sigset_t& signals)
{
    constexpr timespec PAUSE{.tv_sec = 0, .tv_nsec = 10'000'000};
    const auto deadline = std::chrono::steady_clock::now() + wait;
    while (network.CurrentState() == NetworkInterface::State::Absent)
    {
        const bool interrupted = ::ppoll(nullptr, 0, &PAUSE, &signals) < 0;
        if (interrupted || std::chrono::steady_clock::now() >= deadline)
        {
            throw NoInterface(Missing(network.Name()) +
                              (interrupted
                                   ? ", and a signal ended the waiting for it"
                                   : ", not even after " + std::to_string(wait.count() / 1000) + " s") +
                              "; there are: " + ExistingInterfaces());
        }
    }
}

} // namespace

PacketDevice::PacketDevice(const std::string& name, std::chrono::milliseconds wait, const sigset_t& signals)
    : m_interface("router", name), m_rooms(PacketSocket::BATCH), m_arrivals(PacketSocket::BATCH)
{
    WaitFor(m_interface, wait, signals);
    m_socket.emplace(m_interface);
    for (std::size_t index = 0; index < m_rooms.size(); ++index)
    {
        m_arrivals[index].room = m_rooms[index];
    }
    m_received.reserve(PacketSocket::BATCH);
}

int PacketDevice::Descriptor() const
{
    return m_socket ? m_socket->Descriptor() : -1;
}

bool PacketDevice::Close()
{
    Read();
    m_socket.reset();
    return true;
}

void PacketDevice::Open()
{
    if (m_interface.CurrentState() == NetworkInterface::State::Absent)
    {
        throw NoInterface(Missing(m_interface.Name()) + "; there are: " + ExistingInterfaces());
    }
    Close();
    m_socket.emplace(m_interface);
}

std::span<const Bytes> PacketDevice::Receive()
{
    m_received.clear();
    if (!m_socket)
    {
        return m_received;
    }
    const auto count = m_socket->Receive(m_arrivals);
    // An interface that was only set down may come back.
    if (m_socket->WentDown() && m_interface.CurrentState() == NetworkInterface::State::Absent)
    {
        throw NoInterface("interface '" + m_interface.Name() + "' was removed while the router used it");
    }
    for (const auto& arrival : std::span(m_arrivals).first(count))
    {
        if (Accept(arrival.length))
        {
            m_received.push_back(arrival.frame);
        }
    }
    return m_received;
}

void PacketDevice::Send(Bytes frame)
{
    m_outgoing.insert(m_outgoing.end(), frame.begin(), frame.end());
    m_outgoingLengths.push_back(frame.size());
    if (m_outgoingLengths.size() == PacketSocket::BATCH)
    {
        Flush();
    }
}

void PacketDevice::Flush()
{
    std::array<Outgoing, PacketSocket::BATCH> frames;
    const auto some = std::span(frames).first(m_outgoingLengths.size());
    std::size_t at = 0;
    for (std::size_t index = 0; index < some.size(); ++index)
    {
        some[index].frame = Bytes(m_outgoing).subspan(at, m_outgoingLengths[index]);
        at += m_outgoingLengths[index];
    }
    if (m_socket)
    {
        m_socket->Send(some);
    }
    for (const auto& frame : some)
    {
        ++(frame.taken ? m_statistics.sent : m_statistics.sendDrops);
    }
    m_outgoing.clear();
    m_outgoingLengths.clear();
}

DeviceStatistics PacketDevice::Read()
{
    if (m_socket)
    {
        const auto drops = m_socket->TakeDrops();
        m_statistics.received += drops.overload;
        m_statistics.overloadDrops += drops.overload;
    }
    return m_statistics;
}

} // namespace netboxit::click
