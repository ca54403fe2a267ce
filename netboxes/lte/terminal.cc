// SPDX-License-Identifier: GPL-2.0-or-later
#include "terminal.h"

#include "carrier_packet.h"

#include "ns3/epc-ue-nas.h"
#include "ns3/lte-enb-rrc.h"
#include "ns3/lte-radio-bearer-info.h"
#include "ns3/object-map.h"
#include "ns3/simulator.h"

#include <algorithm>

namespace netboxit
{

namespace
{

std::size_t BearersOf(const ns3::Ptr<ns3::LteUeRrc>& rrc)
{
    ns3::ObjectMapValue bearers;
    rrc->GetAttribute("DataRadioBearerMap", bearers);
    return bearers.GetN();
}

} // namespace

Terminal::Terminal(StationId id,
                   const StationPlan& plan,
                   std::size_t classes,
                   const LteNetwork& network,
                   const std::vector<std::string>& cellNames,
                   Fates& fates,
                   Announcements& announcements)
    : m_id(id), m_plan(plan), m_device(network.terminals[id]), m_address(network.addresses[id]),
      m_motion(network.motions[id]), m_cellNames(cellNames), m_network(network), m_fates(fates),
      m_announcements(announcements), m_radio(m_device), m_guard(id, m_network, [this] { Orphaned(); }),
      m_traffic(id, plan, classes, fates)
{
    m_device->SetReceiveCallback(ns3::MakeCallback(&Terminal::FromDevice, this));
    const auto rrc = m_device->GetRrc();
    rrc->TraceConnectWithoutContext("StateTransition", ns3::MakeCallback(&Terminal::StateChanges, this));
    rrc->TraceConnectWithoutContext("ConnectionReconfiguration", ns3::MakeCallback(&Terminal::Reconfigured, this));
    rrc->TraceConnectWithoutContext("HandoverStart", ns3::MakeCallback(&Terminal::HandoverStarts, this));
    rrc->TraceConnectWithoutContext("HandoverEndOk", ns3::MakeCallback(&Terminal::HandoverEnds, this));
    rrc->TraceConnectWithoutContext("HandoverEndError", ns3::MakeCallback(&Terminal::HandoverFails, this));
}

Terminal::~Terminal()
{
    m_device->SetReceiveCallback(ns3::MakeNullCallback<bool,
                                                       ns3::Ptr<ns3::NetDevice>,
                                                       ns3::Ptr<const ns3::Packet>,
                                                       std::uint16_t,
                                                       const ns3::Address&>());
}

void Terminal::SendUp(Destination to, const Frame& frame, ns3::Ipv4Address destination)
{
    if (m_traffic.LeavesTerminal(to, frame, m_connected))
    {
        m_device->GetNas()->Send(CarrierPacket::Make(frame, m_address, destination), ether_type::IPV4);
    }
}

bool Terminal::LeavesCore(const Frame& frame)
{
    return m_traffic.LeavesCore(frame, m_connected);
}

bool Terminal::FromDevice(ns3::Ptr<ns3::NetDevice>,
                          ns3::Ptr<const ns3::Packet> packet,
                          std::uint16_t,
                          const ns3::Address&)
{
    const auto carried = CarrierPacket::Read(packet);
    if (carried && m_traffic.ArrivedAtTerminal(carried->slot, carried->trafficClass))
    {
        m_fates.Deliver(carried->slot, m_id);
    }
    return true;
}

void Terminal::StateChanges(std::uint64_t,
                            std::uint16_t,
                            std::uint16_t,
                            ns3::LteUeRrc::State,
                            ns3::LteUeRrc::State to)
{
    if (to == ns3::LteUeRrc::CONNECTED_PHY_PROBLEM || to < ns3::LteUeRrc::CONNECTED_NORMALLY)
    {
        m_uplink.Reset();
    }
    if (to == ns3::LteUeRrc::CONNECTED_PHY_PROBLEM && m_connected)
    {
        ++m_linkFailures;
        Disconnected("radio link failure");
    }
    else if (to < ns3::LteUeRrc::CONNECTED_NORMALLY && m_connected)
    {
        Disconnected("connection released");
    }
}

void Terminal::Orphaned()
{
    m_orphaned = true;
    // After what the UE's RRC is about to do in the belief that all went well.
    ns3::Simulator::ScheduleNow([this] {
        m_orphaned = false;
        m_device->GetRrc()->GetLteUeRrcSapProvider()->RecvRrcConnectionRelease({});
    });
}

void Terminal::Reconfigured(std::uint64_t, std::uint16_t cell, std::uint16_t)
{
    if (!m_connected && !m_uplink.IsLost() && BearersOf(m_device->GetRrc()) >= 1 + m_plan.bearers.size())
    {
        Connected(cell);
    }
}

void Terminal::Sounded(double ratio)
{
    m_radio.SoundedUplink(ratio);
    const auto change = m_uplink.Sounded(ratio, ns3::Simulator::Now().GetNanoSeconds());
    if (change == true && m_connected)
    {
        ++m_linkFailures;
        Disconnected("uplink too weak");
    }
    else if (change == false && !m_connected)
    {
        Connected(m_device->GetRrc()->GetCellId());
    }
}

void Terminal::Connected(std::uint16_t cell)
{
    m_connected = true;
    m_whyDown = nullptr;
    m_announcements.Announce("link_up", m_id, {{"cell", CellName(cell)}});
}

void Terminal::Disconnected(const char* reason)
{
    m_connected = false;
    m_whyDown = reason;
    m_traffic.Interrupted();
    m_announcements.Announce("link_down", m_id, {{"reason", reason}});
}

void Terminal::GiveUpWaiting(const char* reason)
{
    if (!m_connected && !IsDown())
    {
        m_whyDown = reason;
        m_announcements.Announce("link_down", m_id, {{"reason", m_whyDown}});
    }
}

void Terminal::HandoverStarts(std::uint64_t, std::uint16_t cell, std::uint16_t, std::uint16_t target)
{
    m_handoverFrom = cell;
    m_handoverTo = target;
    m_traffic.Disturbed();
}

void Terminal::HandoverEnds(std::uint64_t imsi, std::uint16_t cell, std::uint16_t rnti)
{
    if (m_orphaned)
    {
        HandoverFails(imsi, cell, rnti);
        return;
    }
    ++m_handovers;
    m_announcements.Announce("handover", m_id, {{"from", CellName(m_handoverFrom)}, {"to", CellName(cell)}});
}

void Terminal::HandoverFails(std::uint64_t, std::uint16_t, std::uint16_t)
{
    ++m_handoverFailures;
    m_announcements.Announce(
        "handover_failed", m_id, {{"from", CellName(m_handoverFrom)}, {"to", CellName(m_handoverTo)}});
}

std::string Terminal::WhyNotTo(std::size_t target) const
{
    const auto rrc = m_device->GetRrc();
    if (!m_connected)
    {
        return "not connected";
    }
    if (Cell() == target)
    {
        return "in this cell already";
    }
    const auto serving = m_network.enodebs[Cell().value()]->GetRrc();
    const bool calm = rrc->GetState() == ns3::LteUeRrc::CONNECTED_NORMALLY && serving->HasUeManager(rrc->GetRnti()) &&
                      serving->GetUeManager(rrc->GetRnti())->GetState() == ns3::UeManager::CONNECTED_NORMALLY;
    return calm ? "" : "another procedure is going on";
}

std::optional<std::size_t> Terminal::Cell() const
{
    return m_connected ? m_network.IndexOf(m_device->GetRrc()->GetCellId()) : std::nullopt;
}

std::string Terminal::CellName(std::uint16_t cell) const
{
    const auto index = m_network.IndexOf(cell);
    return index ? m_cellNames[*index] : "";
}

Json Terminal::Read() const
{
    Json counters{{"connected", m_connected},
            {"cell", m_connected ? CellName(m_device->GetRrc()->GetCellId()) : ""},
            {"handovers", m_handovers},
            {"handover_failures", m_handoverFailures},
            {"link_failures", m_linkFailures},
            {"bearers", m_connected ? 1 + m_plan.bearers.size() : 0},
            {"fade", m_network.attenuation->FadeOf(m_motion)}};
    m_traffic.Read(counters);
    counters.update(m_radio.Read());
    return counters;
}

void Terminal::Reset()
{
    m_handovers = m_handoverFailures = m_linkFailures = 0;
    m_traffic.Reset();
    m_radio.Reset();
}

} // namespace netboxit
