// SPDX-License-Identifier: GPL-2.0-or-later
#include "receiver_channels.h"

#include "station.h"

#include "ns3/simulator.h"

#include <cmath>

namespace netboxit
{

namespace
{

/// As long as Minstrel, Linux's and ns-3's, gathers statistics of a rate before it decides.
constexpr double MEMORY = 0.1; // s

} // namespace

ReceiverChannels::ReceiverChannels(ns3::Ptr<ns3::WifiNetDevice> device,
                                   const std::vector<std::string>& names,
                                   const class Stations& stations,
                                   StationId own,
                                   std::optional<StationId> only)
    : m_device(std::move(device)), m_names(names), m_stations(stations), m_own(own), m_only(only), m_attempts(names.size())
{
    Connect([](const auto& source, const std::string& name, const auto& callback) {
        source->TraceConnectWithoutContext(name, callback);
    });
}

ReceiverChannels::~ReceiverChannels()
{
    if (m_device->GetNPhys() > 0)
    {
        Connect([](const auto& source, const std::string& name, const auto& callback) {
            source->TraceDisconnectWithoutContext(name, callback);
        });
    }
}

template <typename Connector>
void ReceiverChannels::Connect(const Connector& connect)
{
    const auto mac = m_device->GetMac();
    connect(mac, "AckedMpdu", ns3::MakeCallback(&ReceiverChannels::Acknowledged, this));
    connect(mac, "NAckedMpdu", ns3::MakeCallback(&ReceiverChannels::Failed, this));
    connect(mac, "MpduResponseTimeout", ns3::MakeCallback(&ReceiverChannels::FrameTimesOut, this));
    connect(mac, "PsduResponseTimeout", ns3::MakeCallback(&ReceiverChannels::FramesTimeOut, this));
}

std::optional<double> ReceiverChannels::Success(StationId to) const
{
    if (to == m_own || (m_only && to != *m_only))
    {
        return std::nullopt;
    }
    const auto& attempts = m_attempts[to];
    return attempts.all > 0 ? attempts.acknowledged / attempts.all : 1.0;
}

void ReceiverChannels::Acknowledged(ns3::Ptr<const ns3::WifiMpdu> mpdu)
{
    Count(mpdu->GetHeader(), true);
}

void ReceiverChannels::Failed(ns3::Ptr<const ns3::WifiMpdu> mpdu)
{
    Count(mpdu->GetHeader(), false);
}

void ReceiverChannels::FrameTimesOut(std::uint8_t, ns3::Ptr<const ns3::WifiMpdu> mpdu, const ns3::WifiTxVector&)
{
    Count(mpdu->GetHeader(), false);
}

void ReceiverChannels::FramesTimeOut(std::uint8_t, ns3::Ptr<const ns3::WifiPsdu> psdu, const ns3::WifiTxVector&)
{
    for (const auto& mpdu : *psdu)
    {
        Count(mpdu->GetHeader(), false);
    }
}

void ReceiverChannels::Count(const ns3::WifiMacHeader& header, bool acknowledged)
{
    const auto* receiver = header.IsData() ? m_stations.Find(header.GetAddr1()) : nullptr;
    if (!receiver)
    {
        return;
    }
    auto& attempts = m_attempts[receiver->Id()];
    const auto now = ns3::Simulator::Now();
    const double kept = std::exp((attempts.latest - now).GetSeconds() / MEMORY);
    attempts.latest = now;
    attempts.all = kept * attempts.all + 1;
    attempts.acknowledged = kept * attempts.acknowledged + (acknowledged ? 1 : 0);
}

} // namespace netboxit
