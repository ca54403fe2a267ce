// SPDX-License-Identifier: GPL-2.0-or-later
#include "terminal_traffic.h"

#include "ns3/simulator.h"

namespace netboxit
{

namespace
{

/// A frame of which nothing was heard for so long is lost: it waits no longer for the usual room of a queue at 80 kbit/s.
const ns3::Time LONGEST_WAIT = ns3::Seconds(10);
const ns3::Time SWEEP_INTERVAL = ns3::Seconds(1);
/// A frame lost so shortly before a handover or loss of connection was in one of its queues.
constexpr std::int64_t DISTURBANCE = 1'000'000'000;

std::int64_t Now()
{
    return ns3::Simulator::Now().GetNanoSeconds();
}

} // namespace

TerminalTraffic::TerminalTraffic(StationId id, const StationPlan& plan, std::size_t classes, Fates& fates)
    : m_id(id), m_fates(fates)
{
    for (auto* direction : {&m_up, &m_down})
    {
        direction->underWay.resize(classes);
        direction->limits.resize(classes);
    }
    for (const auto& bearer : plan.bearers)
    {
        m_up.limits[bearer.trafficClass] = RateLimit(bearer.uplinkMaximum);
        m_down.limits[bearer.trafficClass] = RateLimit(bearer.downlinkMaximum);
    }
    ns3::Simulator::Schedule(SWEEP_INTERVAL, &TerminalTraffic::Sweep, this);
}

bool TerminalTraffic::LeavesTerminal(Destination to, const Frame& frame, bool connected)
{
    const FramesUnderWay::Entry entry{frame.slot, to, Now()};
    if (!connected)
    {
        LoseUp(entry, Loss::Outage);
        return false;
    }
    ++m_sent;
    if (!m_up.limits[frame.trafficClass].Passes(frame.length, entry.sent))
    {
        LoseUp(entry, Loss::QueueFull);
        return false;
    }
    m_up.underWay[frame.trafficClass].Sent(entry);
    return true;
}

bool TerminalTraffic::LeavesCore(const Frame& frame, bool connected)
{
    const auto now = Now();
    if (!connected)
    {
        LoseDown(frame.slot, Loss::Outage);
        return false;
    }
    if (!m_down.limits[frame.trafficClass].Passes(frame.length, now))
    {
        LoseDown(frame.slot, Loss::QueueFull);
        return false;
    }
    m_down.underWay[frame.trafficClass].Sent({frame.slot, {m_id}, now});
    return true;
}

bool TerminalTraffic::ArrivedAtCore(SlotId slot, ClassId trafficClass)
{
    return m_up.underWay[trafficClass].Arrived(slot, [this](const auto& entry) { LoseUp(entry, Silent(entry)); });
}

bool TerminalTraffic::ArrivedAtTerminal(SlotId slot, ClassId trafficClass)
{
    const bool awaited = m_down.underWay[trafficClass].Arrived(
        slot, [this](const auto& entry) { LoseDown(entry.slot, Silent(entry)); });
    m_received += awaited;
    return awaited;
}

void TerminalTraffic::Queued(const CarrierPacket& packet, bool uplink, QueueNumber queue)
{
    UnderWay(packet, uplink).Queued(packet.slot, queue);
}

void TerminalTraffic::Passed(const CarrierPacket& packet, bool uplink)
{
    UnderWay(packet, uplink).Passed(packet.slot);
}

void TerminalTraffic::Dropped(const CarrierPacket& packet, bool uplink, Loss reason)
{
    const auto entry = UnderWay(packet, uplink).Dropped(packet.slot);
    if (entry && uplink)
    {
        LoseUp(*entry, reason);
    }
    else if (entry)
    {
        LoseDown(packet.slot, reason);
    }
}

FramesUnderWay& TerminalTraffic::UnderWay(const CarrierPacket& packet, bool uplink)
{
    return (uplink ? m_up : m_down).underWay[packet.trafficClass];
}

void TerminalTraffic::Disturbed()
{
    m_disturbed = Now();
}

void TerminalTraffic::Interrupted()
{
    m_disturbed = Now();
    for (auto& underWay : m_up.underWay)
    {
        underWay.GiveUp(m_disturbed + 1, [this](const auto& entry) { LoseUp(entry, Loss::Outage); });
    }
    for (auto& underWay : m_down.underWay)
    {
        underWay.GiveUp(m_disturbed + 1, [this](const auto& entry) { LoseDown(entry.slot, Loss::Outage); });
    }
}

void TerminalTraffic::Sweep()
{
    const auto before = (ns3::Simulator::Now() - LONGEST_WAIT).GetNanoSeconds();
    for (auto& underWay : m_up.underWay)
    {
        underWay.GiveUp(before, [this](const auto& entry) { LoseUp(entry, Silent(entry)); });
    }
    for (auto& underWay : m_down.underWay)
    {
        underWay.GiveUp(before, [this](const auto& entry) { LoseDown(entry.slot, Silent(entry)); });
    }
    ns3::Simulator::Schedule(SWEEP_INTERVAL, &TerminalTraffic::Sweep, this);
}

void TerminalTraffic::LoseUp(const FramesUnderWay::Entry& entry, Loss reason)
{
    ++m_up.lost[reason];
    if (entry.to.station)
    {
        m_fates.Lose(entry.slot, *entry.to.station, reason);
    }
    else
    {
        m_fates.LoseAll(entry.slot, reason);
    }
}

void TerminalTraffic::LoseDown(SlotId slot, Loss reason)
{
    ++m_down.lost[reason];
    m_fates.Lose(slot, m_id, reason);
}

Loss TerminalTraffic::Silent(const FramesUnderWay::Entry& entry) const
{
    const bool disturbed = m_disturbed >= entry.sent && m_disturbed - entry.sent < DISTURBANCE;
    return disturbed ? Loss::Outage : Loss::OnAir;
}

std::size_t TerminalTraffic::Direction::Count() const
{
    std::size_t frames = 0;
    for (const auto& each : underWay)
    {
        frames += each.Count();
    }
    return frames;
}

void TerminalTraffic::Read(Json& counters) const
{
    counters.update({{"sent", m_sent},
                     {"received", m_received},
                     {"queued_uplink", m_up.Count()},
                     {"queued_downlink", m_down.Count()},
                     {"lost_uplink", m_up.lost.ReadOccurred()},
                     {"lost_downlink", m_down.lost.ReadOccurred()}});
}

void TerminalTraffic::Reset()
{
    m_sent = m_received = 0;
    m_up.lost = m_down.lost = {};
}

} // namespace netboxit
