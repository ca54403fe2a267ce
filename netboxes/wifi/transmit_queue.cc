// SPDX-License-Identifier: GPL-2.0-or-later
#include "transmit_queue.h"

#include "../queueing/chance.h"

namespace netboxit
{

namespace
{

std::int64_t Now()
{
    return ns3::Simulator::Now().GetNanoSeconds();
}

/// Whether the MAC's own queue is all that such a parameter `queue` takes.
bool IsOfMacAlone(const Json& queue)
{
    const auto said = [&queue](const char* key) { return queue.value(key, Json()); };
    return said("discipline") == "fifo" && !said("packets").is_null() && said("bytes").is_null() &&
           said("buffer").is_null() && said("time").is_null() && said("rate").is_null();
}

} // namespace

TransmitQueue::TransmitQueue(const CellPlan& plan,
                             ns3::Ptr<ns3::WifiMacQueue> mac,
                             std::int64_t stream,
                             Send send,
                             Lost lost,
                             MarkFrame mark,
                             const queueing::Channel& channel)
    : m_plan(plan), m_mac(std::move(mac)), m_stream(stream), m_send(std::move(send)), m_lost(std::move(lost)),
      m_mark(std::move(mark)), m_channel(channel), m_macLimit(m_mac->GetMaxSize().GetValue())
{
    Set(plan.queue, 0);
    m_mac->TraceConnectWithoutContext("Enqueue", ns3::MakeCallback(&TransmitQueue::Enqueued, this));
    m_mac->TraceConnectWithoutContext("Dequeue", ns3::MakeCallback(&TransmitQueue::Dequeued, this));
}

TransmitQueue::~TransmitQueue()
{
    m_due.Cancel();
    m_mac->TraceDisconnectWithoutContext("Enqueue", ns3::MakeCallback(&TransmitQueue::Enqueued, this));
    m_mac->TraceDisconnectWithoutContext("Dequeue", ns3::MakeCallback(&TransmitQueue::Dequeued, this));
}

void TransmitQueue::Set(const Json& queue, double rate)
{
    if (IsOfMacAlone(queue))
    {
        SetMacRoom(queue.at("packets"));
        if (m_queue)
        {
            m_queue->Set(queue, Now(), rate); // it has no rate of its own any more
            Drain();
            m_queue->Clear(Loss::QueueFull, Now());
            m_queue.reset();
        }
        return;
    }
    if (m_plan.mode == Mode::Mesh)
    {
        throw OutOfRange("wifi: in a mesh, queue is a fifo with a limit in packets alone: what mesh points forward goes past any "
                         "other");
    }
    if (m_queue)
    {
        m_queue->Set(queue, Now(), rate);
        Drain(); // one that had a rate of its own may be due sooner
        return;
    }
    m_queue = std::make_unique<Queue>(
        queue, m_chances.Of(m_stream), m_lost, m_mark, queueing::MakerOf(&m_channel), queueing::Asks::WhenDue);
    m_queue->ResetStatistics(Now());
    SetMacRoom(m_plan.deviceQueue);
}

/// ns-3 aborts where the MAC has more than its limit: until that has gone it keeps the old one, and gets nothing from here.
void TransmitQueue::SetMacRoom(std::uint32_t packets)
{
    m_room = packets;
    const auto control = m_mac->GetMaxSize().GetValue() - m_macLimit; // frames that take no room: ns-3 raises the limit by them
    if (PacketsOfMac() <= packets + control)
    {
        m_mac->SetMaxSize(ns3::QueueSize(ns3::QueueSizeUnit::PACKETS, packets + control));
        m_macLimit = packets;
    }
}

bool TransmitQueue::MacHasRoom() const
{
    return PacketsOfMac() + (m_macLimit - m_room) < m_mac->GetMaxSize().GetValue();
}

std::uint32_t TransmitQueue::PacketsOfMac() const
{
    return m_mac->ns3::QueueBase::GetNPackets();
}

void TransmitQueue::Enqueue(const Outgoing& frame, const queueing::Entry& entry, double rate)
{
    if (m_queue)
    {
        m_queue->Enqueue(frame, entry, Now(), rate);
        Drain();
    }
    else if (m_room < m_macLimit && !MacHasRoom())
    {
        CountDropped(Loss::QueueFull);
        m_lost(frame, Loss::QueueFull);
    }
    else
    {
        m_send(frame);
    }
}

void TransmitQueue::Drain()
{
    m_due.Cancel();
    while (MacHasRoom())
    {
        if (!m_queue->IsEmpty() && Now() < m_queue->Due())
        {
            m_due = ns3::Simulator::Schedule(ns3::NanoSeconds(m_queue->Due() - Now()), &TransmitQueue::Drain, this);
            return;
        }
        const auto frame = m_queue->Dequeue(Now());
        if (!frame)
        {
            return;
        }
        m_send(*frame);
    }
}

void TransmitQueue::OnRoom()
{
    m_expectsRoom = false;
    SetMacRoom(m_room);
    if (m_queue)
    {
        Drain();
    }
}

void TransmitQueue::Enqueued(ns3::Ptr<const ns3::WifiMpdu> mpdu)
{
    m_macBytes += mpdu->GetPacketSize();
    m_macStatistics.HasLength(PacketsOfMac(), Now());
}

/// Not at once: the MAC is in the midst of it, and one Block Ack may take many.
void TransmitQueue::Dequeued(ns3::Ptr<const ns3::WifiMpdu> mpdu)
{
    m_macBytes -= mpdu->GetPacketSize();
    m_macStatistics.HasLength(PacketsOfMac(), Now());
    const bool waits = (m_queue && !m_queue->IsEmpty()) || m_room < m_macLimit;
    if (waits && !m_expectsRoom)
    {
        m_expectsRoom = true;
        ns3::Simulator::ScheduleNow(&TransmitQueue::OnRoom, this);
    }
}

Json TransmitQueue::Read() const
{
    if (m_queue)
    {
        return {{"queue", m_queue->Read(Now())}, {"mac_queued", PacketsOfMac()}};
    }
    return {{"queue", m_macStatistics.Read(PacketsOfMac(), m_macBytes, Now())}};
}

void TransmitQueue::Reset()
{
    m_macStatistics.Reset(Now());
    if (m_queue)
    {
        m_queue->ResetStatistics(Now());
    }
}

} // namespace netboxit
