// SPDX-License-Identifier: GPL-2.0-or-later
#include "memory_device.h"

#include <ctime>

namespace netboxit::click
{

namespace
{

constexpr std::size_t BATCH = 64;
/// A frame's stamp is taken when it is put into the ring: the far end must see it not much later.
constexpr std::size_t PUBLISHED_TOGETHER = 8;

std::int64_t Now()
{
    timespec time{};
    ::clock_gettime(CLOCK_REALTIME, &time);
    return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
}

} // namespace

MemoryDevice::MemoryDevice(const std::string& name, const std::string& folder, WireEnd end)
    : m_wire("interface '" + name + "'", folder, end)
{
    m_received.reserve(BATCH);
}

int MemoryDevice::Descriptor() const
{
    return m_wire.Descriptor();
}

bool MemoryDevice::BeginWait()
{
    return m_wire.BeginWait();
}

void MemoryDevice::EndWait(bool readable)
{
    m_wire.EndWait();
    if (readable && !m_wire.Incoming().HasFrames())
    {
        m_wire.Silence();
    }
}

std::span<const Bytes> MemoryDevice::Receive()
{
    auto& ring = m_wire.Incoming();
    if (!m_received.empty())
    {
        m_received.clear();
        ring.Release();
    }
    while (m_received.size() < BATCH)
    {
        const auto record = ring.Next();
        if (!record)
        {
            break;
        }
        if (Accept(record->frame.size()))
        {
            m_received.push_back(record->frame);
        }
    }
    return m_received;
}

void MemoryDevice::Send(Bytes frame)
{
    const bool taken = m_wire.Outgoing().Put(frame, Now());
    ++(taken ? m_statistics.sent : m_statistics.sendDrops);
    if (++m_unpublished == PUBLISHED_TOGETHER)
    {
        Flush();
    }
}

void MemoryDevice::Flush()
{
    m_unpublished = 0;
    m_wire.Publish();
}

DeviceStatistics MemoryDevice::Read()
{
    const auto drops = m_wire.Incoming().TakeDrops();
    m_statistics.received += drops;
    m_statistics.overloadDrops += drops;
    return m_statistics;
}

} // namespace netboxit::click
