// SPDX-License-Identifier: GPL-2.0-or-later
#include "threaded_port.h"

namespace netboxit
{

ThreadedPort::ThreadedPort(std::unique_ptr<Port> port, std::shared_ptr<IoThread> thread)
    : Port(port->Name(), port->Mtu()), m_wires(WireWithin("port " + Name())), m_thread(std::move(thread)), m_line(m_thread->Add(std::move(port), std::move(m_wires.right)))
{
}

int ThreadedPort::Descriptor() const
{
    return m_wires.left->Descriptor();
}

bool ThreadedPort::HasFrames() const
{
    return m_wires.left->Incoming().HasFrames();
}

bool ThreadedPort::BeginWait()
{
    return m_wires.left->BeginWait();
}

void ThreadedPort::EndWait()
{
    m_wires.left->EndWait();
}

std::size_t ThreadedPort::Receive(std::span<Reception> batch)
{
    auto& ring = m_wires.left->Incoming();
    if (!ring.HasFrames())
    {
        m_wires.left->Silence();
        m_thread->Check();
    }
    std::size_t received = 0;
    while (received < batch.size())
    {
        const auto record = ring.Next();
        if (!record)
        {
            break;
        }
        batch[received++].Put(record->frame, record->stamp);
    }
    ring.Release();
    return received;
}

void ThreadedPort::Send(std::span<Departure> departures, std::int64_t stamp)
{
    for (auto& departure : departures)
    {
        departure.taken = m_wires.left->Outgoing().Put(departure.slot->bytes, stamp);
        counters.sendDrops += !departure.taken;
    }
    m_wires.left->Publish();
}

void ThreadedPort::Refresh()
{
    counters.overloadDrops += m_wires.left->Incoming().TakeDrops();
    const auto lock = m_thread->Lock();
    auto& port = m_line.ThePort();
    port.Refresh();
    for (const auto member : {&PortCounters::received,
                              &PortCounters::sent,
                              &PortCounters::overloadDrops,
                              &PortCounters::oversizeDrops,
                              &PortCounters::malformed,
                              &PortCounters::sendDrops,
                              &PortCounters::checksumsMissing})
    {
        counters.*member += port.counters.*member - m_seen.*member;
    }
    m_seen = port.counters;
}

nlohmann::json ThreadedPort::Describe() const
{
    const auto lock = m_thread->Lock();
    auto result = m_line.ThePort().Describe();
    result["io_core"] = m_thread->Core();
    return result;
}

} // namespace netboxit
