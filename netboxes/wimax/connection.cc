// SPDX-License-Identifier: GPL-2.0-or-later
#include "connection.h"

#include <algorithm>

namespace netboxit::wimax
{

Connection::Connection(const ServiceFlow& flow, Accounts& accounts, std::int64_t stream, const queueing::Channel* channel)
    : m_flow(flow), m_accounts(accounts), m_queue(MakeSduQueue(flow.queue, accounts, stream, channel))
{
}

void Connection::Enqueue(const std::shared_ptr<Sdu>& sdu, Bytes frame, double rate)
{
    m_queue->Enqueue(sdu, EntryOf(*sdu, frame), sdu->enqueued.GetNanoSeconds(), rate);
}

void Connection::Append(std::shared_ptr<Sdu> sdu)
{
    m_nextBytes += sdu->bytes;
    m_next.push_back(std::move(sdu));
}

void Connection::SetQueue(const Json& queue, ns3::Time now, double rate)
{
    m_queue->Set(queue, now.GetNanoSeconds(), rate);
}

std::uint32_t Connection::AirBytes() const
{
    const auto sdus = static_cast<std::uint32_t>(m_next.size() + m_queue->Packets());
    if (sdus == 0)
    {
        return 0;
    }
    const std::uint32_t begun = !m_next.empty() && m_next.front()->sent > 0 ? FRAGMENTATION_SUBHEADER : 0;
    const auto bytes = QueuedBytes();
    const auto alone = bytes + Overhead() * sdus + begun;
    if (!m_flow.carriage.packing || sdus == 1)
    {
        return alone;
    }
    // A PDU of the greatest length ends with its last whole SDU: half of one stays unused in the mean.
    const auto payload = bytes + PACKING_SUBHEADER * sdus;
    const auto filled = MAXIMUM_PDU - Overhead() - payload / sdus / 2;
    return std::min(alone, payload + Overhead() * ((payload + filled - 1) / filled));
}

bool Connection::HasNext(std::size_t sdus, ns3::Time now)
{
    while (m_next.size() < sdus)
    {
        auto sdu = m_queue->Dequeue(now.GetNanoSeconds());
        if (!sdu)
        {
            return false;
        }
        m_nextBytes += (*sdu)->bytes;
        m_next.push_back(std::move(*sdu));
    }
    return true;
}

std::vector<Pdu> Connection::Take(std::uint32_t room, ns3::Time now)
{
    std::vector<Pdu> pdus;
    while (true)
    {
        const auto first = pdus.size();
        if (const auto count = m_flow.carriage.packing ? Packable(room, now) : 0; count > 1)
        {
            TakePacked(room, count, pdus);
        }
        else
        {
            auto pdu = TakeAlone(room, now);
            if (pdu.payload == 0)
            {
                break;
            }
            pdus.push_back(std::move(pdu));
        }
        for (auto taken = first; taken < pdus.size(); ++taken)
        {
            room -= pdus[taken].bytes;
        }
    }
    return pdus;
}

std::size_t Connection::Packable(std::uint32_t room, ns3::Time now)
{
    const auto limit = std::min(room, MAXIMUM_PDU);
    auto used = Overhead();
    std::size_t count = 0;
    while (used + PACKING_SUBHEADER < limit && HasNext(count + 1, now))
    {
        const auto& sdu = m_next[count];
        const auto whole = used + PACKING_SUBHEADER + sdu->bytes - sdu->sent;
        if (whole > limit)
        {
            // A fragment pays where the burst ends, not where only the PDU does.
            return count + (m_flow.carriage.fragmentation && limit == room ? 1 : 0);
        }
        used = whole;
        ++count;
    }
    return count;
}

void Connection::TakePacked(std::uint32_t room, std::size_t count, std::vector<Pdu>& pdus)
{
    auto left = std::min(room, MAXIMUM_PDU);
    for (std::size_t sdu = 0; sdu < count; ++sdu)
    {
        const auto overhead = PACKING_SUBHEADER + (sdu == 0 ? Overhead() : 0);
        const auto& head = m_next.front();
        auto pdu = TakePayload(std::min(head->bytes - head->sent, left - overhead), overhead);
        pdu.packed = sdu > 0;
        left -= pdu.bytes;
        pdus.push_back(std::move(pdu));
    }
}

Pdu Connection::TakeAlone(std::uint32_t room, ns3::Time now)
{
    // Where no fragment fits, no SDU does.
    if (room <= Overhead() + FRAGMENTATION_SUBHEADER || !HasNext(1, now))
    {
        return {};
    }
    const auto& head = m_next.front();
    const auto left = head->bytes - head->sent;
    const bool whole = head->sent == 0 && room >= left + Overhead();
    const auto overhead = Overhead() + (whole ? 0 : FRAGMENTATION_SUBHEADER);
    if (!whole && !m_flow.carriage.fragmentation)
    {
        return {};
    }
    return TakePayload(std::min(left, room - overhead), overhead);
}

Pdu Connection::TakePayload(std::uint32_t payload, std::uint32_t overhead)
{
    auto sdu = m_next.front();
    sdu->sent += payload;
    m_nextBytes -= payload;
    const bool last = sdu->sent == sdu->bytes;
    if (last)
    {
        m_next.pop_front();
    }
    return {std::move(sdu), payload + overhead, payload, last, false};
}

void Connection::DropOversize(std::uint32_t largestBurst, ns3::Time now)
{
    if (m_flow.carriage.fragmentation)
    {
        return;
    }
    while (HasNext(1, now) && m_next.front()->bytes + Overhead() > largestBurst)
    {
        DropHead(Loss::Unsupported, now);
    }
}

void Connection::DropExpired(ns3::Time now)
{
    if (!m_flow.maximumLatency)
    {
        return;
    }
    std::erase_if(m_next,
                  [&](const std::shared_ptr<Sdu>& sdu)
                  {
                      const bool expired = sdu->sent == 0 && now - sdu->enqueued > *m_flow.maximumLatency;
                      if (expired)
                      {
                          m_nextBytes -= sdu->bytes;
                          m_accounts.Lose(*sdu, Loss::QueueExpired);
                      }
                      return expired;
                  });
    m_queue->Expire(now.GetNanoSeconds(), m_flow.maximumLatency->GetNanoSeconds());
}

void Connection::DropHead(Loss reason, ns3::Time now)
{
    if (!HasNext(1, now))
    {
        return;
    }
    m_accounts.Lose(*m_next.front(), reason);
    m_nextBytes -= m_next.front()->bytes - m_next.front()->sent;
    m_next.pop_front();
}

void Connection::DropAll(Loss reason, ns3::Time now)
{
    while (!m_next.empty())
    {
        DropHead(reason, now);
    }
    m_queue->Clear(reason, now.GetNanoSeconds());
}

} // namespace netboxit::wimax
