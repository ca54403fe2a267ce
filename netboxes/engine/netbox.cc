// SPDX-License-Identifier: GPL-2.0-or-later
#include "netbox.h"

#include "identity.h"

#include "ns3/simulator.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace netboxit
{

namespace
{

/// Enough for 100 000 frames/s on half a second of delay.
constexpr std::uint32_t SLOTS = 65536;
/// A frame that no model has accounted for by then is gone: far longer than any delay that the technologies
/// emulate.
constexpr std::int64_t EXPIRY = 30'000'000'000;

std::size_t LargestFrame(const std::vector<std::unique_ptr<Port>>& ports)
{
    const auto largest = std::ranges::max_element(ports, {}, [](const auto& port) { return port->Mtu(); });
    return (*largest)->Mtu() + ETHERNET_HEADER + VLAN_TAG;
}

std::vector<std::string> Names(const std::vector<StationConfiguration>& stations)
{
    std::vector<std::string> names;
    std::ranges::transform(stations, std::back_inserter(names), &StationConfiguration::name);
    return names;
}

} // namespace

Netbox::Netbox(const Configuration& configuration,
               std::vector<std::unique_ptr<Port>> ports,
               EventQueue& events,
               const Clock& clock)
    : m_ports(std::move(ports)), m_events(events), m_clock(clock), m_classifier(configuration.classifier),
      m_slots(SLOTS, LargestFrame(m_ports), m_ports.size()), m_lateness(configuration.realtime.limitNs),
      m_records(configuration.records, configuration.clock == ClockKind::Virtual),
      m_captures(m_ports.size()), m_departures(m_ports.size()),
      m_segment(
          MakeSegment({Names(configuration.stations), m_classifier.Names(), configuration.parameters, *this, *this}))
{
}

Netbox::~Netbox()
{
    Close();
}

void Netbox::Close()
{
    if (m_segment)
    {
        ns3::Simulator::Destroy();
        m_segment.reset();
    }
}

Slot* Netbox::TakeSlot()
{
    return m_slots.Take();
}

void Netbox::DropForOverload(StationId from)
{
    ++m_ports[from]->counters.overloadDrops;
}

void Netbox::Enter(StationId from, const Reception& reception, std::int64_t late)
{
    m_captures.Add(from, PacketDirection::Inbound, reception.stamp, reception.slot->bytes);
    if (m_segment->IsEnd())
    {
        EnterEnd(from, reception, late);
        return;
    }
    auto& slot = *reception.slot;
    const auto now = m_events.NowNs();
    const auto headers = ReadHeaders(slot.bytes);
    const auto decision = m_bridge.Decide(headers, from, now);
    if (decision.verdict != Bridge::Verdict::Forward)
    {
        ++(decision.verdict == Bridge::Verdict::SameStation ? m_counters.filtered : m_counters.linkControl);
        m_slots.Release(slot);
        return;
    }
    slot.identity = m_records.IsKept() ? Identity(headers) : 0;
    slot.arrivalStamp = reception.stamp;
    slot.enteredLate = late;
    slot.from = from;
    slot.trafficClass = m_classifier.Classify(headers);
    m_slots.Admit(slot, now);
    if (decision.to.station)
    {
        slot.Await(*decision.to.station);
    }
    else
    {
        for (StationId station = 0; station < m_ports.size(); ++station)
        {
            if (station != from)
            {
                slot.Await(station);
            }
        }
    }
    ExpectExpiry();
    const std::uint8_t dscp = headers.ip ? headers.ip->dscp : 0;
    m_segment->Transmit(
        from, decision.to, {slot.Id(), headers.length, headers.outerType, dscp, slot.trafficClass});
}

void Netbox::EnterEnd(StationId from, const Reception& reception, std::int64_t late)
{
    auto& slot = *reception.slot;
    const auto headers = ReadHeaders(slot.bytes);
    slot.identity = m_records.IsKept() ? Identity(headers) : 0;
    slot.arrivalStamp = reception.stamp;
    slot.enteredLate = late;
    slot.from = from;
    slot.trafficClass = m_classifier.Classify(headers);
    m_slots.Admit(slot, m_events.NowNs());
    ExpectExpiry();
    const std::uint8_t dscp = headers.ip ? headers.ip->dscp : 0;
    m_segment->Transmit(from, {}, {slot.Id(), headers.length, headers.outerType, dscp, slot.trafficClass});
}

bool Netbox::Emit(StationId station, Bytes frame)
{
    if (frame.size() > m_ports[station]->Mtu() + ETHERNET_HEADER + VLAN_TAG)
    {
        return false;
    }
    auto* slot = m_slots.Take();
    if (slot == nullptr)
    {
        return false;
    }
    std::memcpy(slot->room.data(), frame.data(), frame.size());
    slot->bytes = slot->room.first(frame.size());
    slot->from = station;
    const auto now = m_events.NowNs();
    slot->arrivalStamp = m_clock.StampOf(now);
    slot->enteredLate = 0;
    if (m_records.IsKept())
    {
        const auto headers = ReadHeaders(slot->bytes);
        slot->identity = Identity(headers);
        slot->trafficClass = m_classifier.Classify(headers);
    }
    slot->departing = 1;
    m_departures[station].push_back({slot, now, false});
    ++m_waiting;
    ++m_counters.emitted;
    return true;
}

Bytes Netbox::Read(SlotId frame) const
{
    const auto* slot = m_slots.Find(frame);
    return slot == nullptr ? Bytes{} : slot->bytes;
}

std::int64_t Netbox::ArrivedAt(SlotId frame) const
{
    const auto* slot = m_slots.Find(frame);
    return slot == nullptr ? 0 : slot->arrivalStamp;
}

void Netbox::Absorb(SlotId frame)
{
    auto* slot = m_slots.Find(frame);
    if (slot == nullptr)
    {
        ++m_counters.duplicates;
        return;
    }
    for (StationId station = 0; station < m_ports.size() && slot->Outstanding() > 0; ++station)
    {
        slot->Settle(station);
    }
    ++m_counters.absorbed;
    Record(*slot, slot->from, 0, slot->arrivalStamp, 0);
    ReleaseIfDone(*slot);
}

std::int64_t Netbox::Behind() const
{
    return m_clock.Now() - m_events.NowNs();
}

std::int64_t Netbox::StampOf(std::int64_t time) const
{
    return m_clock.StampOf(time);
}

void Netbox::Deliver(SlotId frame, StationId station)
{
    auto* slot = m_slots.Find(frame);
    if (slot == nullptr || !slot->Settle(station))
    {
        ++m_counters.duplicates;
        return;
    }
    ++slot->departing;
    ++m_waiting;
    m_departures[station].push_back({slot, m_events.NowNs(), false});
}

void Netbox::Lose(SlotId frame, StationId station, Loss reason)
{
    auto* slot = m_slots.Find(frame);
    if (slot == nullptr || !slot->Awaits(station))
    {
        ++m_counters.duplicates;
        return;
    }
    Settle(*slot, station, reason);
    ReleaseIfDone(*slot);
}

void Netbox::LoseAll(SlotId frame, Loss reason)
{
    auto* slot = m_slots.Find(frame);
    if (slot == nullptr)
    {
        return; // no copy is on its way any more, which is not an error: see Fates::LoseAll
    }
    for (StationId station = 0; station < m_ports.size() && slot->Outstanding() > 0; ++station)
    {
        if (slot->Awaits(station))
        {
            Settle(*slot, station, reason);
        }
    }
    ReleaseIfDone(*slot);
}

void Netbox::Settle(Slot& slot, StationId station, Loss reason)
{
    slot.Settle(station);
    ++m_counters.lost[static_cast<std::size_t>(reason)];
    Record(slot, station, static_cast<std::uint8_t>(reason), 0, 0);
}

void Netbox::Record(
    const Slot& slot, StationId station, std::uint8_t fate, std::int64_t outStamp, std::int64_t lateness)
{
    m_records.Add({.identity = slot.identity,
                   .inNs = slot.arrivalStamp,
                   .outNs = outStamp,
                   .latenessNs = lateness,
                   .length = static_cast<std::uint32_t>(slot.bytes.size()),
                   .stationIn = slot.from,
                   .stationOut = station,
                   .trafficClass = slot.trafficClass,
                   .fate = fate,
                   .zeros = {}});
}

void Netbox::ReleaseIfDone(Slot& slot)
{
    if (slot.Outstanding() == 0 && slot.departing == 0)
    {
        m_slots.Release(slot);
        m_lastLeft = m_events.NowNs();
    }
}

void Netbox::HandOver()
{
    for (StationId station = 0; station < m_ports.size() && m_waiting > 0; ++station)
    {
        HandOver(station);
    }
}

std::int64_t Netbox::NextDeparture() const
{
    auto next = std::numeric_limits<std::int64_t>::max();
    for (StationId station = 0; station < m_ports.size() && m_waiting > 0; ++station)
    {
        if (const auto& departures = m_departures[station]; !departures.empty())
        {
            next = std::min(next, departures.front().due);
        }
    }
    return next;
}

void Netbox::HandOver(StationId station)
{
    auto& waiting = m_departures[station];
    // Taken just before the frames are handed over: what the kernel and the wire then need is the testbed's
    // overhead, not the segment's.
    const auto now = m_clock.Now();
    const auto early = std::ranges::upper_bound(waiting, now, {}, &Departure::due);
    const std::span departures(waiting.begin(), early);
    if (departures.empty())
    {
        return;
    }
    const auto stamp = m_clock.StampOf(now);
    m_ports[station]->Send(departures, stamp);
    for (const auto& [slot, due, taken] : departures)
    {
        if (taken)
        {
            m_captures.Add(station, PacketDirection::Outbound, stamp, slot->bytes);
            ++m_counters.delivered;
            const auto lateness = now - due + slot->enteredLate;
            m_lateness.RecordFrame(due, lateness);
            Record(*slot, station, 0, stamp, lateness);
        }
        else
        {
            ++m_counters.lost[static_cast<std::size_t>(Loss::Unknown)];
            Record(*slot, station, static_cast<std::uint8_t>(Loss::Unknown), 0, 0);
        }
        --slot->departing;
        ReleaseIfDone(*slot);
    }
    m_waiting -= departures.size();
    waiting.erase(waiting.begin(), early);
}

void Netbox::ExpectExpiry()
{
    if (const auto* oldest = m_slots.Oldest(); oldest != nullptr && !m_expiryExpected)
    {
        m_expiryExpected = true;
        ns3::Simulator::Schedule(
            ns3::NanoSeconds(oldest->admitted + EXPIRY - m_events.NowNs()), &Netbox::Expire, this);
    }
}

void Netbox::Expire()
{
    m_expiryExpected = false;
    const auto now = m_events.NowNs();
    for (auto* slot = m_slots.Oldest(); slot != nullptr && slot->admitted + EXPIRY <= now;)
    {
        auto* next = m_slots.After(*slot);
        LoseAll(slot->Id(), Loss::Unknown);
        slot = next;
    }
    ExpectExpiry();
}

Json Netbox::Statistics()
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
                         {"checksums_missing", counted.checksumsMissing}});
    }
    Json lost = Json::object();
    static_assert(LOSS_NAMES.size() == std::tuple_size_v<decltype(m_counters.lost)>);
    for (std::size_t reason = 1; reason < LOSS_NAMES.size(); ++reason)
    {
        lost[LOSS_NAMES[reason]] = m_counters.lost[reason];
    }
    return {{"epoch_ns", m_clock.StampOf(0)},
            {"segment", m_segment->Read()},
            {"ports", ports},
            {"frames",
             {{"delivered", m_counters.delivered},
              {"lost", lost},
              {"inside", m_slots.Admitted()},
              {"filtered", m_counters.filtered},
              {"link_control", m_counters.linkControl},
              {"duplicates", m_counters.duplicates},
              {"emitted", m_counters.emitted},
              {"absorbed", m_counters.absorbed}}},
            {"bridge", {{"addresses", m_bridge.Learned()}}},
            {"lateness_us", m_lateness.Read()},
            {"missed", m_lateness.Missed()},
            {"misses", m_lateness.ReadMisses()},
            {"records", {{"written", m_records.Written()}, {"dropped", m_records.Dropped()}}}};
}

} // namespace netboxit
