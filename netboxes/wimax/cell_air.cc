// SPDX-License-Identifier: GPL-2.0-or-later
#include "cell.h"

#include "block_error.h"

#include "ns3/simulator.h"

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
    const auto index = m_indices.at(grant.subscriber);
    auto& subscriber = *m_subscribers[index];
    if (!subscriber.Entry().IsOperational())
    {
        return;
    }
    const auto errors = subscriber.Uplink().BlockErrorRateAt(grant.profile);
    const auto perSymbol = PROFILES[grant.profile].bytesPerSymbol;
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
    for (const auto& [pdu, flow, place, piggyback] : burst.pdus)
    {
        if (Corrupts(errors, place, pdu.bytes, grant.profile))
        {
            pdu.sdu->corrupted[0] = true;
        }
        else if (m_baseUplink.HearPdu(index, flow, pdu); piggyback > 0)
        {
            m_baseUplink.HearRequest(index, {flow, piggyback, true});
        }
        if (pdu.last)
        {
            const auto symbols = SHORT_PREAMBLE + (place + pdu.bytes - 1) / perSymbol + 1;
            ns3::Simulator::Schedule(m_layout.Symbols(symbols) + Propagation(grant.subscriber),
                                     &Cell::ArriveAtBase,
                                     this,
                                     pdu.sdu);
        }
    }
}

void Cell::SendDownlinkBurst(const DownlinkBurst& burst)
{
    const auto perSymbol = PROFILES[burst.profile].bytesPerSymbol;
    for (const auto& [pdu, offset] : burst.pdus)
    {
        const auto symbols = burst.firstSymbol + (offset + pdu.bytes - 1) / perSymbol + 1;
        for (std::size_t receiver = 0; receiver < pdu.sdu->receivers.size(); ++receiver)
        {
            const auto station = pdu.sdu->receivers[receiver];
            const auto errors =
                m_subscribers[m_indices.at(station)]->Downlink().BlockErrorRateAt(burst.profile);
            if (Corrupts(errors, offset, pdu.bytes, burst.profile))
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
}

bool Cell::Corrupts(double blockErrorRate, std::uint32_t offset, std::uint32_t bytes, ProfileId profile)
{
    const auto perSymbol = PROFILES[profile].bytesPerSymbol;
    const auto blocks = (offset + bytes - 1) / perSymbol - offset / perSymbol + 1;
    return m_noise->GetValue() < PduErrorRate(blockErrorRate, blocks);
}

} // namespace netboxit::wimax
