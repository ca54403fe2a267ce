// SPDX-License-Identifier: GPL-2.0-or-later
#include "interface_port.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <thread>

namespace netboxit
{

namespace
{

/// Gives up the real-time priority that a thread has from the one that started it. Where that is refused it has none.
void DropRealtimePriority()
{
    const sched_param none{};
    ::sched_setscheduler(0, SCHED_OTHER, &none);
}

} // namespace

InterfacePort::InterfacePort(std::string name,
                             std::unique_ptr<FrameSocket> socket,
                             std::uint32_t mtu,
                             nlohmann::json description,
                             Opener open)
    : Port(std::move(name), mtu), m_socket(std::move(socket)), m_description(std::move(description)),
      m_open(std::move(open))
{
}

int InterfacePort::Descriptor() const
{
    return m_socket->Descriptor();
}

bool InterfacePort::HasFrames() const
{
    return m_socket->HasFrames();
}

bool InterfacePort::BeginWait()
{
    return !m_socket->HasFrames();
}

std::size_t InterfacePort::Receive(std::span<Reception> batch)
{
    std::array<Arrival, FrameSocket::BATCH> arrivals;
    const auto size = std::min(batch.size(), arrivals.size());
    for (std::size_t i = 0; i < size; ++i)
    {
        arrivals[i].room = batch[i].slot->room;
    }
    const auto received = m_socket->Receive(std::span(arrivals).first(size));
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

void InterfacePort::Send(std::span<Departure> departures, std::int64_t)
{
    std::array<Outgoing, FrameSocket::BATCH> frames;
    while (!departures.empty())
    {
        const auto some = std::span(frames).first(std::min(departures.size(), frames.size()));
        for (std::size_t i = 0; i < some.size(); ++i)
        {
            some[i] = {departures[i].slot->bytes, false};
        }
        m_socket->Send(some);
        for (std::size_t i = 0; i < some.size(); ++i)
        {
            departures[i].taken = some[i].taken;
            ++(some[i].taken ? counters.sent : counters.sendDrops);
        }
        departures = departures.subspan(some.size());
    }
}

void InterfacePort::Refresh()
{
    const auto drops = m_socket->TakeDrops();
    counters.received += drops.overload + drops.oversize;
    counters.overloadDrops += drops.overload;
    counters.oversizeDrops += drops.oversize;
}

bool InterfacePort::Reopen()
{
    if (!m_open)
    {
        throw std::runtime_error("an AF_XDP port keeps its interface");
    }
    if (!m_opening.valid())
    {
        m_opening = std::async(std::launch::async,
                               [open = m_open]
                               {
                                   DropRealtimePriority();
                                   return open();
                               });
    }
    if (m_opening.wait_for(std::chrono::seconds(0)) != std::future_status::ready)
    {
        return false;
    }
    auto socket = m_opening.get();
    Refresh();
    m_socket.swap(socket);
    std::thread(
        [old = std::move(socket)]() mutable
        {
            DropRealtimePriority();
            old.reset();
        })
        .detach();
    return true;
}

nlohmann::json InterfacePort::Describe() const
{
    nlohmann::json result = {{"name", Name()}, {"mtu", Mtu()}, {"receive_frames", m_socket->Capacity()}};
    result.update(m_description);
    return result;
}

} // namespace netboxit
