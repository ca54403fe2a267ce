// SPDX-License-Identifier: GPL-2.0-or-later
#include "cell.h"

#include "block_error.h"

#include "ns3/simulator.h"

#include <algorithm>

namespace netboxit::wimax
{

void Cell::Contend(bool ranging)
{
    if (ranging)
    {
        RangeInitially();
    }
    if (m_layout.RequestOpportunities() > 0)
    {
        RequestInContention();
    }
}

void Cell::RangeInitially()
{
    const auto now = ns3::Simulator::Now();
    std::vector<Subscriber*> heard;
    for (auto& subscriber : m_subscribers)
    {
        if (subscriber->Entry().Contends(now))
        {
            heard.push_back(subscriber.get());
        }
    }
    for (auto* subscriber : heard)
    {
        if (heard.size() == 1)
        {
            subscriber->Entry().Heard(now, m_layout.Duration());
        }
        else
        {
            subscriber->Entry().Collided(now);
        }
    }
}

void Cell::RequestInContention()
{
    std::map<std::uint32_t, std::vector<std::pair<std::size_t, BandwidthRequest>>> opportunities;
    for (std::size_t index = 0; index < m_subscribers.size(); ++index)
    {
        if (!m_subscribers[index]->Entry().IsOperational())
        {
            continue;
        }
        if (const auto sent =
                m_subscribers[index]->Contend(m_layout.RequestOpportunities(), ns3::Simulator::Now()))
        {
            opportunities[sent->first].emplace_back(index, sent->second);
        }
    }
    for (const auto& [opportunity, requests] : opportunities)
    {
        if (requests.size() > 1)
        {
            ++m_requestCollisions;
            for (const auto& [index, request] : requests)
            {
                ++m_radios[index].requestCollisions;
            }
            continue;
        }
        const auto& [index, request] = requests.front();
        const auto errors = m_subscribers[index]->Uplink().BlockErrorRateAt(MOST_ROBUST);
        if (!Corrupts(errors, 0, BANDWIDTH_REQUEST_HEADER, MOST_ROBUST))
        {
            m_baseUplink.HearRequest(index, request);
        }
    }
}

void Cell::SendUplinkBurst(const UplinkGrant& grant)
{
    const auto index = m_indices[grant.subscriber];
    auto& subscriber = *m_subscribers[index];
    if (!subscriber.Entry().IsOperational())
    {
        return;
    }
    const auto errors = subscriber.Uplink().BlockErrorRateAt(grant.profile);
    const auto perSymbol = PROFILES[grant.profile].bytesPerSymbol;
    m_radios[index].uplinkSymbols += SHORT_PREAMBLE + grant.symbols;
    const auto burst = subscriber.Transmit(grant, ns3::Simulator::Now());
    std::uint32_t offset = 0;
    for (const auto& request : burst.headers)
    {
        if (!Corrupts(errors, offset, BANDWIDTH_REQUEST_HEADER, grant.profile))
        {
            m_baseUplink.HearRequest(index, request);
        }
        offset += BANDWIDTH_REQUEST_HEADER;
    }
    for (auto first = burst.pdus.begin(); first != burst.pdus.end();)
    {
        // What is packed into one PDU is lost or received together, when all of it is there.
        const auto end = std::find_if(
            first + 1, burst.pdus.end(), [](const UplinkPdu& next) { return !next.pdu.packed; });
        const auto bytes = (end - 1)->offset + (end - 1)->pdu.bytes - first->offset;
        const bool corrupt = Corrupts(errors, first->offset, bytes, grant.profile);
        const auto symbols = SHORT_PREAMBLE + (first->offset + bytes - 1) / perSymbol + 1;
        const auto arrival = m_layout.Symbols(symbols) + Propagation(grant.subscriber);
        if (!corrupt && first->piggyback)
        {
            m_baseUplink.HearRequest(index, *first->piggyback);
        }
        for (; first != end; ++first)
        {
            const auto& pdu = first->pdu;
            if (corrupt)
            {
                pdu.sdu->corrupted[0] = true;
            }
            else
            {
                m_baseUplink.HearPdu(index, first->flow, pdu);
            }
            if (pdu.last)
            {
                ns3::Simulator::Schedule(arrival, &Cell::ArriveAtBase, this, pdu.sdu);
            }
        }
    }
}

void Cell::SendDownlinkBurst(const DownlinkBurst& burst)
{
    const auto perSymbol = PROFILES[burst.profile].bytesPerSymbol;
    for (auto first = burst.pdus.begin(); first != burst.pdus.end();)
    {
        const auto end =
            std::find_if(first + 1, burst.pdus.end(), [](const auto& next) { return !next.first.packed; });
        const auto offset = first->second;
        const auto bytes = (end - 1)->second + (end - 1)->first.bytes - offset;
        const auto symbols = burst.firstSymbol + (offset + bytes - 1) / perSymbol + 1;
        const auto& receivers = first->first.sdu->receivers;
        const double shared = static_cast<double>(bytes) / perSymbol / static_cast<double>(receivers.size());
        for (std::size_t receiver = 0; receiver < receivers.size(); ++receiver)
        {
            const auto station = receivers[receiver];
            const auto errors =
                m_subscribers[m_indices[station]]->Downlink().BlockErrorRateAt(burst.profile);
            const bool corrupt = Corrupts(errors, offset, bytes, burst.profile);
            m_radios[m_indices[station]].downlinkSymbols += shared;
            for (auto part = first; part != end; ++part)
            {
                const auto& pdu = part->first;
                if (corrupt)
                {
                    pdu.sdu->corrupted[receiver] = true;
                }
                if (pdu.last)
                {
                    ns3::Simulator::Schedule(m_layout.Symbols(symbols) + Propagation(station),
                                             &Cell::ArriveAtSubscriber,
                                             this,
                                             pdu.sdu,
                                             receiver);
                }
            }
        }
        first = end;
    }
}

bool Cell::Corrupts(double blockErrorRate, std::uint32_t offset, std::uint32_t bytes, ProfileId profile)
{
    const auto perSymbol = PROFILES[profile].bytesPerSymbol;
    const auto blocks = (offset + bytes - 1) / perSymbol - offset / perSymbol + 1;
    return m_noise->GetValue() < PduErrorRate(blockErrorRate, blocks);
}

} // namespace netboxit::wimax
