// SPDX-License-Identifier: GPL-2.0-or-later
#include "station_counters.h"

#include "ns3/simulator.h"
#include "ns3/wifi-phy-state-helper.h"
#include "ns3/wifi-phy.h"

namespace netboxit
{

namespace
{

/// Names of IEEE 802.11-2020, Table 10-1.
std::string NameOf(ns3::AcIndex category)
{
    switch (category)
    {
    case ns3::AC_BK:
        return "background";
    case ns3::AC_VI:
        return "video";
    case ns3::AC_VO:
        return "voice";
    default:
        return "best_effort";
    }
}

} // namespace

Airtime::Airtime(ns3::Ptr<ns3::WifiNetDevice> device) : m_device(std::move(device))
{
    m_device->GetPhy()->GetState()->TraceConnectWithoutContext("State",
                                                               ns3::MakeCallback(&Airtime::StateLasts, this));
}

Airtime::~Airtime()
{
    if (m_device->GetNPhys() > 0)
    {
        m_device->GetPhy()->GetState()->TraceDisconnectWithoutContext(
            "State", ns3::MakeCallback(&Airtime::StateLasts, this));
    }
}

void Airtime::Reset()
{
    m_reset = ns3::Simulator::Now();
    m_transmitting = m_busy = ns3::Time();
}

/// ns-3 tells of a transmission when it begins, and of any other state when it has ended.
void Airtime::StateLasts(ns3::Time start, ns3::Time duration, ns3::WifiPhyState state)
{
    duration = ns3::Max(start + duration - ns3::Max(start, m_reset), ns3::Time());
    if (state == ns3::WifiPhyState::TX)
    {
        m_transmitting += duration;
    }
    if (state == ns3::WifiPhyState::TX || state == ns3::WifiPhyState::RX || state == ns3::WifiPhyState::CCA_BUSY)
    {
        m_busy += duration;
    }
}

std::optional<ns3::AcIndex> CategoryOf(const ns3::WifiMacHeader& header)
{
    return header.IsQosData() ? std::optional(ns3::QosUtilsMapTidToAc(header.GetQosTid())) : std::nullopt;
}

void StationCounters::CountTransmission(const ns3::WifiPsdu& psdu, double rate)
{
    m_rate = rate;
    auto& category = Of(CategoryOf(psdu.GetHeader(0)).value_or(ns3::AC_BE));
    for (const auto& mpdu : psdu)
    {
        ++category.transmissions;
        category.retransmissions += mpdu->GetHeader().IsRetry();
    }
}

void StationCounters::CountLoss(Loss reason, std::optional<ns3::AcIndex> category)
{
    ++m_lost[reason];
    if (category)
    {
        ++Of(*category).lost[reason];
    }
}

void StationCounters::Reset()
{
    m_lost = {};
    m_categories = {};
}

Json StationCounters::Read(const std::map<ns3::AcIndex, Json>& queues) const
{
    std::uint64_t transmissions = 0;
    std::uint64_t retransmissions = 0;
    for (const auto& category : m_categories)
    {
        transmissions += category.transmissions;
        retransmissions += category.retransmissions;
    }
    Json read{{"transmissions", transmissions},
              {"retransmissions", retransmissions},
              {"rate", m_rate},
              {"lost", m_lost.ReadOccurred()}};
    if (queues.size() == 1)
    {
        read.update(queues.begin()->second);
        return read;
    }
    auto& categories = read["access_categories"];
    for (const auto& [index, queue] : queues)
    {
        const auto& category = m_categories[index];
        auto& told = categories[NameOf(index)];
        told = {{"transmissions", category.transmissions},
                {"retransmissions", category.retransmissions},
                {"lost", category.lost.ReadOccurred()}};
        told.update(queue);
    }
    return read;
}

} // namespace netboxit
