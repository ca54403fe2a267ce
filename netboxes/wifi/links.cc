// SPDX-License-Identifier: GPL-2.0-or-later
#include "links.h"

#include "ns3/peer-management-protocol.h"
#include "ns3/simulator.h"
#include "ns3/sta-wifi-mac.h"
#include "ns3/wifi-phy.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace netboxit
{

namespace
{

/// How often moving ad hoc stations are looked at: as often as a beacon would tell (100 TU).
const ns3::Time WATCH_INTERVAL = ns3::MicroSeconds(102400);
/// An association that fails is tried again after half a second (ns-3's StaWifiMac::AssocRequestTimeout), and mesh points send
/// a beacon as often (MeshWifiInterfaceMac::BeaconInterval): four attempts.
const ns3::Time LONGEST_ENTRY = ns3::Seconds(2);
/// dB that ns-3's preamble detection asks for (ThresholdPreambleDetectionModel::Threshold).
constexpr double PREAMBLE_SNR = 4.0;

/// dBm of thermal noise at 290 K in the channel, with the receiver's own.
double NoiseOf(const CellPlan& plan)
{
    return -173.975 + 10.0 * std::log10(plan.channelWidth) + plan.noiseFigure;
}

} // namespace

Links::Links(const CellPlan& plan, const Cell& cell, Announcements& announcements)
    : m_plan(plan), m_cell(cell), m_announcements(announcements), m_up(plan.stations.size(), false),
      m_peers(plan.stations.size())
{
    for (StationId id = 0; id < m_up.size(); ++id)
    {
        m_up[id] = plan.stations[id].accessPoint;
    }
    Connect([](const auto& source, const std::string& name, const auto& callback) {
        source->TraceConnectWithoutContext(name, callback);
    });
    Reconsider();
    if (plan.mode != Mode::AdHoc)
    {
        m_entry = ns3::Simulator::Schedule(LONGEST_ENTRY, &Links::StopWaiting, this);
    }
}

Links::~Links()
{
    m_watch.Cancel();
    m_entry.Cancel();
    Connect([](const auto& source, const std::string& name, const auto& callback) {
        source->TraceDisconnectWithoutContext(name, callback);
    });
}

/// To what tells of links, or from it.
template <typename Source>
void Links::Connect(const Source& connect)
{
    for (StationId id = 0; id < m_up.size(); ++id)
    {
        if (m_cell.devices[id]->GetNPhys() == 0)
        {
            continue; // ns-3 has disposed of it
        }
        if (auto mac = ns3::DynamicCast<ns3::StaWifiMac>(m_cell.devices[id]->GetMac()))
        {
            connect(mac, "Assoc", ns3::MakeCallback(&Links::Associated, this, id));
            connect(mac, "DeAssoc", ns3::MakeCallback(&Links::Disassociated, this, id));
        }
        if (m_plan.mode == Mode::Mesh)
        {
            auto peering = m_cell.meshPoints[id]->GetObject<ns3::dot11s::PeerManagementProtocol>();
            connect(peering, "LinkOpen", ns3::MakeCallback(&Links::PeerOpened, this, id));
            connect(peering, "LinkClose", ns3::MakeCallback(&Links::PeerClosed, this, id));
        }
    }
}

bool Links::IsBetween(StationId a, StationId b) const
{
    return m_plan.mode == Mode::AdHoc ? Hears(a, b) && Hears(b, a) : m_up[a] && m_up[b];
}

std::vector<Unlinked> Links::Missing() const
{
    std::vector<Unlinked> missing;
    for (StationId id = 0; id < m_up.size(); ++id)
    {
        if (!m_up[id])
        {
            missing.push_back({id, {{"reason", Reason()}}});
        }
    }
    return missing;
}

bool Links::HaveSettled() const
{
    return !m_entry.IsPending() || std::ranges::all_of(m_up, std::identity{});
}

void Links::StopWaiting()
{
    for (const auto& [station, details] : Missing())
    {
        m_announcements.Announce("link_down", station, details);
    }
}

void Links::Begin()
{
    m_entry.Cancel();
    Reconsider();
}

void Links::Reconsider()
{
    if (m_plan.mode != Mode::AdHoc)
    {
        return;
    }
    for (StationId id = 0; id < m_up.size(); ++id)
    {
        bool up = false;
        for (StationId other = 0; other < m_up.size() && !up; ++other)
        {
            up = other != id && IsBetween(id, other);
        }
        Change(id, up);
    }
    m_watch.Cancel();
    if (std::ranges::any_of(m_cell.motions, [](const auto& motion) { return motion->Moves(); }))
    {
        m_watch = ns3::Simulator::Schedule(WATCH_INTERVAL, &Links::Reconsider, this);
    }
}

bool Links::Hears(StationId receiver, StationId sender) const
{
    const auto& from = m_plan.stations[sender];
    const auto& to = m_plan.stations[receiver];
    const double power =
        m_cell.propagation->MeanPower(
            from.txPower + from.antennaGain, m_cell.motions[sender], m_cell.motions[receiver]) +
        to.antennaGain;
    return power >= m_plan.sensitivity && power - NoiseOf(m_plan) >= PREAMBLE_SNR;
}

void Links::Associated(StationId station, ns3::Mac48Address)
{
    Change(station, true);
}

void Links::Disassociated(StationId station, ns3::Mac48Address)
{
    Change(station, false);
}

void Links::PeerOpened(StationId station, ns3::Mac48Address, ns3::Mac48Address peer)
{
    if (const auto other = Find(peer))
    {
        m_peers[station].insert(*other);
        Change(station, true);
    }
}

void Links::PeerClosed(StationId station, ns3::Mac48Address, ns3::Mac48Address peer)
{
    if (const auto other = Find(peer))
    {
        m_peers[station].erase(*other);
        Change(station, !m_peers[station].empty());
    }
}

void Links::Change(StationId station, bool up)
{
    if (m_up[station] == up)
    {
        return;
    }
    m_up[station] = up;
    if (up)
    {
        m_announcements.Announce("link_up", station);
    }
    else
    {
        m_announcements.Announce("link_down", station, {{"reason", Reason()}});
    }
}

const char* Links::Reason() const
{
    return m_plan.mode == Mode::Infrastructure ? "not associated"
           : m_plan.mode == Mode::Mesh         ? "no mesh peer"
                                               : "nobody in range";
}

std::optional<StationId> Links::Find(const ns3::Mac48Address& address) const
{
    const auto found =
        std::ranges::find_if(m_cell.devices, [&](const auto& device) { return device->GetAddress() == address; });
    return found == m_cell.devices.end() ? std::nullopt
                                         : std::optional(static_cast<StationId>(found - m_cell.devices.begin()));
}

} // namespace netboxit
