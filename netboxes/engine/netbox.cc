// SPDX-License-Identifier: GPL-2.0-or-later
#include "netbox.h"

#include "../link_layer/link_layer_segment.h"

#include "identity.h"
#include "station_parameter.h"
#include "telemetry_frame.h"

#include "ns3/simulator.h"

#include <algorithm>
#include <cstring>

namespace netboxit
{

namespace
{

std::vector<std::string> Names(const std::vector<StationConfiguration>& stations)
{
    std::vector<std::string> names;
    std::ranges::transform(stations, std::back_inserter(names), &StationConfiguration::name);
    return names;
}

/// The technology, below a link layer where there is one.
std::unique_ptr<Segment> SegmentOf(const Configuration& configuration, SegmentMaker makeSegment, const SegmentSetup& setup)
{
    if (configuration.linkLayer.is_null())
    {
        return makeSegment(setup);
    }
    return std::make_unique<link_layer::LinkLayerSegment>(setup, makeSegment, configuration.linkLayer);
}

} // namespace

Netbox::Netbox(const Configuration& configuration,
               SegmentMaker makeSegment,
               std::vector<std::unique_ptr<Port>> ports,
               EventQueue& events,
               const Clock& clock)
    : m_ports(std::move(ports)), m_events(events), m_clock(clock), m_classifier(configuration.classifier),
      m_captures(m_ports.size()), m_stations(Names(configuration.stations)), m_stages(configuration, [this](auto station, auto event, const auto& details) { m_journal.Announce(event, station, details); }),
      m_inFlight(configuration, m_ports, events, clock, m_captures, m_stages),
      m_journal(configuration, events, clock), m_live(configuration.live),
      m_telemetry(configuration.telemetry),
      m_segment(SegmentOf(configuration,
                          makeSegment,
                          {m_stations, m_classifier.Names(), configuration.parameters, m_inFlight, *this, m_journal}))
{
    if (m_segment->ProxiesNeighbours())
    {
        m_neighbours.emplace(m_ports.size());
    }
    WatchLinks();
}

Netbox::~Netbox()
{
    Close();
}

void Netbox::Close()
{
    if (m_segment)
    {
        m_watch.reset();
        ns3::Simulator::Destroy();
        m_segment.reset();
    }
}

void Netbox::DropForOverload(StationId from)
{
    ++m_ports[from]->counters.overloadDrops;
}

void Netbox::Enter(StationId from, const Reception& reception, std::int64_t late)
{
    m_captures.Add(from, PacketDirection::Inbound, reception.stamp, reception.slot->bytes);
    m_ports[from]->counters.receivedBytes += reception.slot->bytes.size();
    auto& slot = *reception.slot;
    const auto headers = ReadHeaders(slot.bytes);
    const bool ends = m_segment->IsEnd();
    if (m_telemetry && headers.etherType == ether_type::EXPERIMENT)
    {
        ++m_linkControl;
        m_inFlight.GiveBack(slot);
        return;
    }
    Destination to;
    if (!ends)
    {
        const auto decision = m_bridge.Decide(headers, from, m_events.NowNs());
        if (decision.verdict != Bridge::Verdict::Forward)
        {
            ++(decision.verdict == Bridge::Verdict::SameStation ? m_filtered : m_linkControl);
            m_inFlight.GiveBack(slot);
            return;
        }
        to = decision.to;
    }
    slot.identity = m_inFlight.Records().IsKept() ? Identity(headers) : 0;
    slot.arrivalStamp = reception.stamp;
    slot.enteredLate = late;
    slot.from = from;
    const bool isDropped = m_stages.Has(from) && !m_stages.Entering(from, slot.Writable(), headers, m_events.NowNs());
    slot.trafficClass = m_classifier.Classify(headers, from, m_events.NowNs());
    m_inFlight.Admit(slot);
    if (isDropped)
    {
        Await(slot, ends ? Destination{from} : to);
        m_inFlight.LoseAll(slot.Id(), Loss::Policed);
        return;
    }
    if (!ends)
    {
        if (m_neighbours && EndsAtProxy(slot, headers, to))
        {
            m_inFlight.Absorb(slot.Id());
            return;
        }
        Await(slot, to);
    }
    const std::uint8_t dscp = headers.ip ? headers.ip->Dscp() : 0;
    m_segment->Transmit(from, to, {slot.Id(), headers.length, headers.outerType, dscp, slot.trafficClass});
}

void Netbox::WatchLinks()
{
    if (!m_watch && (m_telemetry || m_stages.FollowLinks()))
    {
        const auto tell = [this](StationId station, const LinkState& state, bool isNew) { return TellLink(station, state, isNew); };
        m_watch.emplace(*m_segment, m_ports.size(), tell);
    }
}

bool Netbox::TellLink(StationId station, const LinkState& state, bool isNew)
{
    if (isNew)
    {
        m_stages.SetLinkRate(station, static_cast<double>(state.transmit), m_events.NowNs());
    }
    if (!m_telemetry)
    {
        return true;
    }
    const bool isSent = Emit(station, TelemetryFrame(state));
    m_told += isSent ? 1 : 0;
    return isSent;
}

bool Netbox::EndsAtProxy(const Slot& slot, const Headers& headers, Destination& to)
{
    const auto decision = m_neighbours->Decide(slot.bytes, headers, slot.from, m_events.NowNs(), *m_segment);
    switch (decision.verdict)
    {
    case NeighbourProxy::Decision::Verdict::Answer:
        // Without room for the answer the question goes where it would have gone.
        return Emit(slot.from, decision.answer);
    case NeighbourProxy::Decision::Verdict::Suppress:
        return true;
    case NeighbourProxy::Decision::Verdict::Pass:
        to.station = decision.owner ? decision.owner : to.station;
        return false;
    }
    return false;
}

void Netbox::Await(Slot& slot, Destination to) const
{
    if (to.station)
    {
        slot.Await(*to.station);
        return;
    }
    for (StationId station = 0; station < m_ports.size(); ++station)
    {
        if (station != slot.from)
        {
            slot.Await(station);
        }
    }
}

void Netbox::Begin(std::optional<std::int64_t> interval)
{
    TheLateness().Reset();
    m_segment->Reset();
    m_segment->Begin();
    m_journal.Begin([this] { return Sample(); }, interval);
    for (const auto& [station, details] : m_segment->WithoutLink())
    {
        m_journal.Announce("link_down", station, details);
    }
}

Json Netbox::Sample() const
{
    auto statistics = m_segment->Read();
    m_stages.AddTo(statistics["stations"], m_events.NowNs());
    return statistics;
}

void Netbox::Set(const std::string& parameter, const Json& value)
{
    m_live.Check(parameter, value);
    if (const auto target = TargetOf(parameter, m_stations); target.station && target.parameter == STAGES)
    {
        m_stages.Set(*target.station, value, m_events.NowNs());
        WatchLinks();
    }
    else
    {
        m_segment->Set(parameter, value);
    }
    m_journal.Announce("set", std::nullopt, {{"parameter", parameter}, {"value", value}});
}

bool Netbox::Emit(StationId station, Bytes frame)
{
    if (frame.size() > m_ports[station]->Mtu() + ETHERNET_HEADER + VLAN_TAG)
    {
        return false;
    }
    auto* slot = m_inFlight.Take();
    if (slot == nullptr)
    {
        return false;
    }
    std::memcpy(slot->room.data(), frame.data(), frame.size());
    slot->bytes = slot->room.first(frame.size());
    slot->from = station;
    slot->arrivalStamp = m_clock.StampOf(m_events.NowNs());
    slot->enteredLate = 0;
    if (m_inFlight.Records().IsKept())
    {
        const auto headers = ReadHeaders(slot->bytes);
        slot->identity = Identity(headers);
        slot->trafficClass = m_classifier.Classify(headers, station, m_events.NowNs());
    }
    m_inFlight.Begin(*slot, station);
    return true;
}

Bytes Netbox::Read(SlotId frame) const
{
    const auto* slot = m_inFlight.Find(frame);
    return slot == nullptr ? Bytes{} : slot->bytes;
}

std::span<std::uint8_t> Netbox::Rewrite(SlotId frame)
{
    auto* slot = m_inFlight.Find(frame);
    return slot == nullptr ? std::span<std::uint8_t>{} : slot->Writable();
}

bool Netbox::MarkCongestion(SlotId frame, std::optional<StationId> station)
{
    return m_inFlight.MarkCongestion(frame, station);
}

std::optional<SlotId> Netbox::Duplicate(SlotId frame, StationId station)
{
    return m_inFlight.Duplicate(frame, station);
}

std::int64_t Netbox::ArrivedAt(SlotId frame) const
{
    const auto* slot = m_inFlight.Find(frame);
    return slot == nullptr ? 0 : slot->arrivalStamp;
}

void Netbox::Absorb(SlotId frame)
{
    m_inFlight.Absorb(frame);
}

std::int64_t Netbox::Behind() const
{
    return m_clock.Now() - m_events.NowNs();
}

std::int64_t Netbox::StampOf(std::int64_t time) const
{
    return m_clock.StampOf(time);
}

Json Netbox::Counters()
{
    auto ports = Json::array();
    for (const auto& port : m_ports)
    {
        port->Refresh();
        const auto& counted = port->counters;
        ports.push_back({{"name", port->Name()},
                         {"received", counted.received},
                         {"sent", counted.sent},
                         {"overload_drops", counted.overloadDrops},
                         {"oversize_drops", counted.oversizeDrops},
                         {"malformed", counted.malformed},
                         {"send_drops", counted.sendDrops},
                         {"checksums_missing", counted.checksumsMissing},
                         {"received_bytes", counted.receivedBytes},
                         {"sent_bytes", counted.sentBytes},
                         {"delay_s", static_cast<double>(counted.delayNs) / 1e9}});
    }
    auto frames = m_inFlight.Read();
    frames["filtered"] = m_filtered;
    frames["link_control"] = m_linkControl;
    frames["telemetry"] = m_told;
    const auto& lateness = m_inFlight.TheLateness();
    return {{"ports", ports}, {"frames", frames}, {"stages", m_stages.Read(m_events.NowNs())}, {"lateness_us", lateness.Counts()}, {"missed", lateness.Missed()}};
}

Json Netbox::Statistics()
{
    const auto& lateness = m_inFlight.TheLateness();
    const auto& records = m_inFlight.Records();
    auto statistics = Counters();
    statistics.update({{"epoch_ns", m_clock.StampOf(0)},
                       {"segment", m_segment->Read()},
                       {"bridge", {{"addresses", m_bridge.Learned()}}},
                       {"neighbours", m_neighbours ? m_neighbours->Read() : Json(nullptr)},
                       {"lateness_us", lateness.Read()},
                       {"misses", lateness.ReadMisses()},
                       {"events", m_journal.Latest()},
                       {"journal", {{"dropped", m_journal.Dropped()}}},
                       {"records", {{"written", records.Written()}, {"dropped", records.Dropped()}}}});
    return statistics;
}

} // namespace netboxit
