// SPDX-License-Identifier: GPL-2.0-or-later
#include "memory_port.h"

namespace netboxit
{

MemoryPort::MemoryPort(std::string name, std::string folder, WireEnd end, std::uint32_t mtu)
    : Port(std::move(name), mtu), m_folder(std::move(folder)), m_wire("port " + Name(), m_folder, end)
{
}

int MemoryPort::Descriptor() const
{
    return m_wire.Descriptor();
}

bool MemoryPort::HasFrames() const
{
    return m_wire.Incoming().HasFrames();
}

bool MemoryPort::BeginWait()
{
    return m_wire.BeginWait();
}

void MemoryPort::EndWait()
{
    m_wire.EndWait();
}

std::size_t MemoryPort::Receive(std::span<Reception> batch)
{
    auto& ring = m_wire.Incoming();
    if (!ring.HasFrames())
    {
        m_wire.Silence();
        return 0;
    }
    std::size_t accepted = 0;
    for (std::size_t taken = 0; taken < batch.size(); ++taken)
    {
        const auto record = ring.Next();
        if (!record)
        {
            break;
        }
        if (!Accept(record->frame.size()))
        {
            continue;
        }
        batch[accepted++].Put(record->frame, record->stamp);
    }
    ring.Release();
    return accepted;
}

void MemoryPort::Send(std::span<Departure> departures, std::int64_t stamp)
{
    for (auto& departure : departures)
    {
        departure.taken = m_wire.Outgoing().Put(departure.slot->bytes, stamp);
        ++(departure.taken ? counters.sent : counters.sendDrops);
    }
    m_wire.Publish();
}

void MemoryPort::Refresh()
{
    const auto drops = m_wire.Incoming().TakeDrops();
    counters.received += drops;
    counters.overloadDrops += drops;
}

nlohmann::json MemoryPort::Describe() const
{
    return {{"name", Name()},
            {"kind", "memory"},
            {"wire", m_folder},
            {"mtu", Mtu()},
            {"capacity_bytes", m_wire.Outgoing().Capacity()},
            {"ring_resets", m_wire.Incoming().Resets()}};
}

} // namespace netboxit
