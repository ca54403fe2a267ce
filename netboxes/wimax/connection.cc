// SPDX-License-Identifier: GPL-2.0-or-later
#include "connection.h"

#include <algorithm>

namespace netboxit::wimax
{

Connection::Connection(const ServiceFlow& flow, Accounts& accounts) : m_flow(flow), m_accounts(accounts)
{
}

void Connection::Enqueue(std::shared_ptr<Sdu> sdu)
{
    if (m_queuedBytes + sdu->bytes > m_flow.queueBytes)
    {
        m_accounts.Lose(*sdu, Loss::QueueFull);
        return;
    }
    m_queuedBytes += sdu->bytes;
    m_queue.push_back(std::move(sdu));
}

std::uint32_t Connection::AirBytes() const
{
    if (m_queue.empty())
    {
        return 0;
    }
    const auto sdus = static_cast<std::uint32_t>(m_queue.size());
    const std::uint32_t begun = m_queue.front()->sent > 0 ? FRAGMENTATION_SUBHEADER : 0;
    const auto alone = m_queuedBytes + Overhead() * sdus + begun;
    if (!m_flow.carriage.packing || sdus == 1)
    {
        return alone;
    }
    // A PDU of the greatest length ends with its last whole SDU: half of one stays unused in the mean.
    const auto payload = m_queuedBytes + PACKING_SUBHEADER * sdus;
    const auto filled = MAXIMUM_PDU - Overhead() - payload / sdus / 2;
    return std::min(alone, payload + Overhead() * ((payload + filled - 1) / filled));
}

std::vector<Pdu> Connection::Take(std::uint32_t room)
{
    std::vector<Pdu> pdus;
    while (!m_queue.empty())
    {
        const auto first = pdus.size();
        if (const auto count = m_flow.carriage.packing ? Packable(room) : 0; count > 1)
        {
            TakePacked(room, count, pdus);
        }
        else
        {
            auto pdu = TakeAlone(room);
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

std::size_t Connection::Packable(std::uint32_t room) const
{
    const auto limit = std::min(room, MAXIMUM_PDU);
    auto used = Overhead();
    std::size_t count = 0;
    for (const auto& sdu : m_queue)
    {
        const auto whole = used + PACKING_SUBHEADER + sdu->bytes - sdu->sent;
        if (whole > limit)
        {
            // A fragment pays where the burst ends, not where only the PDU does.
            const bool cut = m_flow.carriage.fragmentation && limit == room;
            return count + (cut && used + PACKING_SUBHEADER < limit ? 1 : 0);
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
        const auto& head = m_queue.front();
        auto pdu = TakePayload(std::min(head->bytes - head->sent, left - overhead), overhead);
        pdu.packed = sdu > 0;
        left -= pdu.bytes;
        pdus.push_back(std::move(pdu));
    }
}

Pdu Connection::TakeAlone(std::uint32_t room)
{
    const auto& head = m_queue.front();
    const auto left = head->bytes - head->sent;
    const bool whole = head->sent == 0 && room >= left + Overhead();
    const auto overhead = Overhead() + (whole ? 0 : FRAGMENTATION_SUBHEADER);
    if (room <= overhead || (!whole && !m_flow.carriage.fragmentation))
    {
        return {};
    }
    return TakePayload(std::min(left, room - overhead), overhead);
}

Pdu Connection::TakePayload(std::uint32_t payload, std::uint32_t overhead)
{
    auto sdu = m_queue.front();
    sdu->sent += payload;
    m_queuedBytes -= payload;
    const bool last = sdu->sent == sdu->bytes;
    if (last)
    {
        m_queue.pop_front();
    }
    return {std::move(sdu), payload + overhead, payload, last, false};
}

void Connection::DropOversize(std::uint32_t largestBurst)
{
    if (m_flow.carriage.fragmentation)
    {
        return;
    }
    while (!m_queue.empty() && m_queue.front()->bytes + Overhead() > largestBurst)
    {
        DropHead(Loss::Unsupported);
    }
}

void Connection::DropExpired(ns3::Time now)
{
    if (!m_flow.maximumLatency || m_queue.empty())
    {
        return;
    }
    const auto first = m_queue.begin() + (m_queue.front()->sent > 0 ? 1 : 0);
    const auto fresh = std::find_if(first,
                                    m_queue.end(),
                                    [&](const std::shared_ptr<Sdu>& sdu)
                                    { return now - sdu->enqueued <= *m_flow.maximumLatency; });
    for (auto old = first; old != fresh; ++old)
    {
        m_queuedBytes -= (*old)->bytes;
        m_accounts.Lose(**old, Loss::QueueExpired);
    }
    m_queue.erase(first, fresh);
}

void Connection::DropHead(Loss reason)
{
    if (m_queue.empty())
    {
        return;
    }
    m_accounts.Lose(*m_queue.front(), reason);
    m_queuedBytes -= m_queue.front()->bytes - m_queue.front()->sent;
    m_queue.pop_front();
}

void Connection::DropAll(Loss reason)
{
    while (!m_queue.empty())
    {
        DropHead(reason);
    }
}

} // namespace netboxit::wimax
