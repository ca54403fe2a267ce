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

/// A frame of which nothing was heard for so long is lost: it waits in RLC queues no longer than queue_size at a few kbit/s.
const ns3::Time LONGEST_WAIT = ns3::Seconds(10);
const ns3::Time SWEEP_INTERVAL = ns3::Seconds(1);
/// A frame lost so shortly before a handover or loss of connection was in one of its queues.
constexpr std::int64_t DISTURBANCE = 1'000'000'000;

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
      m_upward(classes), m_downward(classes)
{
    m_device->SetReceiveCallback(ns3::MakeCallback(&Terminal::FromDevice, this));
    const auto rrc = m_device->GetRrc();
    rrc->TraceConnectWithoutContext("StateTransition", ns3::MakeCallback(&Terminal::StateChanges, this));
    rrc->TraceConnectWithoutContext("ConnectionReconfiguration", ns3::MakeCallback(&Terminal::Reconfigured, this));
    rrc->TraceConnectWithoutContext("HandoverStart", ns3::MakeCallback(&Terminal::HandoverStarts, this));
    rrc->TraceConnectWithoutContext("HandoverEndOk", ns3::MakeCallback(&Terminal::HandoverEnds, this));
    rrc->TraceConnectWithoutContext("HandoverEndError", ns3::MakeCallback(&Terminal::HandoverFails, this));
    ns3::Simulator::Schedule(SWEEP_INTERVAL, &Terminal::Sweep, this);
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
    const FramesUnderWay::Entry entry{frame.slot, to, ns3::Simulator::Now().GetNanoSeconds()};
    if (!m_connected)
    {
        LoseUp(entry, Loss::Outage);
        return;
    }
    ++m_sent;
    m_upward[frame.trafficClass].Sent(entry);
    m_device->GetNas()->Send(CarrierPacket::Make(frame, m_address, destination), ether_type::IPV4);
}

bool Terminal::ArrivedAtCore(SlotId slot, ClassId trafficClass)
{
    return m_upward[trafficClass].Arrived(slot, [this](const auto& entry) { LoseUp(entry, Silent(entry)); });
}

bool Terminal::LeavesCore(SlotId slot, ClassId trafficClass)
{
    if (!m_connected)
    {
        LoseDown(slot, Loss::Outage);
        return false;
    }
    m_downward[trafficClass].Sent({slot, {m_id}, ns3::Simulator::Now().GetNanoSeconds()});
    return true;
}

bool Terminal::FromDevice(ns3::Ptr<ns3::NetDevice>,
                          ns3::Ptr<const ns3::Packet> packet,
                          std::uint16_t,
                          const ns3::Address&)
{
    Receive(packet);
    return true;
}

void Terminal::Receive(ns3::Ptr<const ns3::Packet> packet)
{
    const auto carried = CarrierPacket::Read(packet);
    if (!carried)
    {
        return;
    }
    auto& underWay = m_downward[carried->trafficClass];
    if (underWay.Arrived(carried->slot, [this](const auto& entry) { LoseDown(entry.slot, Silent(entry)); }))
    {
        ++m_received;
        m_fates.Deliver(carried->slot, m_id);
    }
}

void Terminal::Refused(SlotId slot, ClassId trafficClass, bool uplink)
{
    const auto entry = (uplink ? m_upward : m_downward)[trafficClass].Refused(slot);
    if (!entry)
    {
        return;
    }
    if (uplink)
    {
        LoseUp(*entry, Loss::QueueFull);
    }
    else
    {
        LoseDown(slot, Loss::QueueFull);
    }
}

void Terminal::LoseUp(const FramesUnderWay::Entry& entry, Loss reason)
{
    ++m_lostUp[reason];
    if (entry.to.station)
    {
        m_fates.Lose(entry.slot, *entry.to.station, reason);
    }
    else
    {
        m_fates.LoseAll(entry.slot, reason);
    }
}

void Terminal::LoseDown(SlotId slot, Loss reason)
{
    ++m_lostDown[reason];
    m_fates.Lose(slot, m_id, reason);
}

Loss Terminal::Silent(const FramesUnderWay::Entry& entry) const
{
    const bool disturbed = m_disturbed >= entry.sent && m_disturbed - entry.sent < DISTURBANCE;
    return disturbed ? Loss::Outage : Loss::OnAir;
}

void Terminal::Sweep()
{
    const auto before = (ns3::Simulator::Now() - LONGEST_WAIT).GetNanoSeconds();
    for (auto& underWay : m_upward)
    {
        underWay.GiveUp(before, [this](const auto& entry) { LoseUp(entry, Silent(entry)); });
    }
    for (auto& underWay : m_downward)
    {
        underWay.GiveUp(before, [this](const auto& entry) { LoseDown(entry.slot, Silent(entry)); });
    }
    ns3::Simulator::Schedule(SWEEP_INTERVAL, &Terminal::Sweep, this);
}

void Terminal::StateChanges(std::uint64_t,
                            std::uint16_t,
                            std::uint16_t,
                            ns3::LteUeRrc::State,
                            ns3::LteUeRrc::State to)
{
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
    if (m_connected || BearersOf(m_device->GetRrc()) < 1 + m_plan.bearers.size())
    {
        return;
    }
    m_connected = true;
    m_down = false;
    m_announcements.Announce("link_up", m_id, {{"cell", CellName(cell)}});
}

void Terminal::Disconnected(const char* reason)
{
    m_connected = false;
    m_down = true;
    m_disturbed = ns3::Simulator::Now().GetNanoSeconds();
    // What waits in the queues of the old connection goes with it.
    for (auto& underWay : m_upward)
    {
        underWay.GiveUp(m_disturbed + 1, [this](const auto& entry) { LoseUp(entry, Loss::Outage); });
    }
    for (auto& underWay : m_downward)
    {
        underWay.GiveUp(m_disturbed + 1, [this](const auto& entry) { LoseDown(entry.slot, Loss::Outage); });
    }
    m_announcements.Announce("link_down", m_id, {{"reason", reason}});
}

void Terminal::GiveUpWaiting()
{
    if (!m_connected && !m_down)
    {
        m_down = true;
        m_announcements.Announce("link_down", m_id, {{"reason", "no cell in reach"}});
    }
}

void Terminal::HandoverStarts(std::uint64_t, std::uint16_t cell, std::uint16_t, std::uint16_t target)
{
    m_handoverFrom = cell;
    m_handoverTo = target;
    m_disturbed = ns3::Simulator::Now().GetNanoSeconds();
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

std::string Terminal::WhyNotTo(std::uint16_t target) const
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
    const auto serving = m_network.enodebs.at(Cell() - 1)->GetRrc();
    const bool calm = rrc->GetState() == ns3::LteUeRrc::CONNECTED_NORMALLY && serving->HasUeManager(rrc->GetRnti()) &&
                      serving->GetUeManager(rrc->GetRnti())->GetState() == ns3::UeManager::CONNECTED_NORMALLY;
    return calm ? "" : "another procedure is going on";
}

std::uint16_t Terminal::Cell() const
{
    return m_connected ? m_device->GetRrc()->GetCellId() : 0;
}

std::string Terminal::CellName(std::uint16_t cell) const
{
    return cell >= 1 && cell <= m_cellNames.size() ? m_cellNames[cell - 1] : "";
}

Json Terminal::Read() const
{
    const auto count = [](const std::vector<FramesUnderWay>& classes) {
        std::size_t frames = 0;
        for (const auto& underWay : classes)
        {
            frames += underWay.Count();
        }
        return frames;
    };
    const auto losses = [](const std::map<Loss, std::uint64_t>& lost) {
        Json counts = Json::object();
        for (const auto& [reason, number] : lost)
        {
            counts[std::string(NameOf(reason))] = number;
        }
        return counts;
    };
    Json counters{{"connected", m_connected},
            {"cell", CellName(Cell())},
            {"sent", m_sent},
            {"received", m_received},
            {"queued_uplink", count(m_upward)},
            {"queued_downlink", count(m_downward)},
            {"lost_uplink", losses(m_lostUp)},
            {"lost_downlink", losses(m_lostDown)},
            {"handovers", m_handovers},
            {"handover_failures", m_handoverFailures},
            {"link_failures", m_linkFailures},
            {"bearers", m_connected ? 1 + m_plan.bearers.size() : 0},
            {"fade", m_network.attenuation->FadeOf(m_motion)}};
    counters.update(m_radio.Read());
    return counters;
}

} // namespace netboxit
