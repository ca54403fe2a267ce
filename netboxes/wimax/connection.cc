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
    const std::uint32_t begun = m_queue.front()->sent > 0 ? FRAGMENTATION_SUBHEADER : 0;
    return m_queuedBytes + PDU_OVERHEAD * static_cast<std::uint32_t>(m_queue.size()) + begun;
}

std::vector<Pdu> Connection::Take(std::uint32_t room)
{
    std::vector<Pdu> pdus;
    while (!m_queue.empty())
    {
        auto pdu = TakeFragment(room);
        if (pdu.payload == 0)
        {
            break;
        }
        room -= pdu.bytes;
        pdus.push_back(std::move(pdu));
    }
    return pdus;
}

Pdu Connection::TakeFragment(std::uint32_t room)
{
    const auto sdu = m_queue.front();
    const auto left = sdu->bytes - sdu->sent;
    const bool whole = sdu->sent == 0 && room >= left + PDU_OVERHEAD;
    const auto overhead = PDU_OVERHEAD + (whole ? 0 : FRAGMENTATION_SUBHEADER);
    if (room <= overhead)
    {
        return {};
    }
    const auto payload = std::min(left, room - overhead);
    sdu->sent += payload;
    m_queuedBytes -= payload;
    const bool last = sdu->sent == sdu->bytes;
    if (last)
    {
        m_queue.pop_front();
    }
    return {sdu, payload + overhead, payload, last};
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
