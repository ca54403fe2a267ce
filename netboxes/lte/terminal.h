// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "network.h"
#include "plan.h"
#include "radio_counters.h"
#include "signalling_guard.h"
#include "terminal_traffic.h"
#include "uplink_watch.h"

#include "ns3/lte-enb-net-device.h"
#include "ns3/lte-ue-net-device.h"
#include "ns3/lte-ue-rrc.h"

namespace netboxit
{

/// One UE: whether it is connected and to which cell, its frames, and its counters.
class Terminal
{
  public:
    Terminal(StationId id,
             const StationPlan& plan,
             std::size_t classes,
             const LteNetwork& network,
             const std::vector<std::string>& cellNames,
             Fates& fates,
             Announcements& announcements);
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;
    ~Terminal();

    StationId Id() const
    {
        return m_id;
    }
    ns3::Ipv4Address Address() const
    {
        return m_address;
    }
    const ns3::Ptr<ns3::LteUeNetDevice>& Device() const
    {
        return m_device;
    }
    const ns3::Ptr<Motion>& TheMotion() const
    {
        return m_motion;
    }
    const StationPlan& Plan() const
    {
        return m_plan;
    }

    /// Whether it has all its bearers.
    bool IsConnected() const
    {
        return m_connected;
    }
    /// Whether it is known that it cannot connect for now.
    bool IsDown() const
    {
        return m_whyDown != nullptr;
    }
    /// Why it is not connected.
    const char* WhyNotConnected() const
    {
        return m_whyDown != nullptr ? m_whyDown : NOT_YET;
    }
    static constexpr auto NOT_YET = "not attached yet";
    /// If it is not connected yet, it counts as down from now on, for this reason, and says so.
    void GiveUpWaiting(const char* reason);

    /// Puts a frame on its bearer to the core; `destination` is the internal address that the frame is for.
    void SendUp(Destination to, const Frame& frame, ns3::Ipv4Address destination);
    /// A frame leaves the core for this UE. False, and the copy is lost, when it may not.
    bool LeavesCore(const Frame& frame);
    TerminalTraffic& Traffic()
    {
        return m_traffic;
    }

    /// Why it cannot be handed over to an eNodeB now, given by its index; empty when it can.
    std::string WhyNotTo(std::size_t target) const;

    /// An eNodeB has measured the sounding signal of this UE; the ratio is its SINR.
    void Sounded(double ratio);

    RadioCounters& Counters()
    {
        return m_radio;
    }
    const RadioCounters& Counters() const
    {
        return m_radio;
    }

    /// The serving eNodeB's index, nothing when there is none.
    std::optional<std::size_t> Cell() const;
    Json Read() const;
    /// Counters count from now on.
    void Reset();

  private:
    bool FromDevice(ns3::Ptr<ns3::NetDevice>,
                    ns3::Ptr<const ns3::Packet> packet,
                    std::uint16_t,
                    const ns3::Address&);
    void StateChanges(std::uint64_t imsi,
                      std::uint16_t cell,
                      std::uint16_t rnti,
                      ns3::LteUeRrc::State from,
                      ns3::LteUeRrc::State to);
    void Reconfigured(std::uint64_t imsi, std::uint16_t cell, std::uint16_t rnti);
    void HandoverStarts(std::uint64_t imsi, std::uint16_t cell, std::uint16_t rnti, std::uint16_t target);
    void HandoverEnds(std::uint64_t imsi, std::uint16_t cell, std::uint16_t rnti);
    void HandoverFails(std::uint64_t imsi, std::uint16_t cell, std::uint16_t rnti);
    void Connected(std::uint16_t cell);
    void Disconnected(const char* reason);
    /// The eNodeB knows nothing of a connection that the UE believes to have.
    void Orphaned();
    /// Of the eNodeB with that cell; empty when there is none.
    std::string CellName(std::uint16_t cell) const;

    StationId m_id;
    const StationPlan& m_plan;
    ns3::Ptr<ns3::LteUeNetDevice> m_device;
    ns3::Ipv4Address m_address;
    ns3::Ptr<Motion> m_motion;
    const std::vector<std::string>& m_cellNames;
    const LteNetwork& m_network;
    Fates& m_fates;
    Announcements& m_announcements;

    RadioCounters m_radio;
    SignallingGuard m_guard;
    TerminalTraffic m_traffic;
    UplinkWatch m_uplink;
    bool m_connected{};
    bool m_orphaned{};
    /// Why it is known not to connect for now.
    const char* m_whyDown{};
    std::uint16_t m_handoverFrom{};
    std::uint16_t m_handoverTo{};
    std::uint64_t m_handovers{};
    std::uint64_t m_handoverFailures{};
    std::uint64_t m_linkFailures{};
};

} // namespace netboxit
