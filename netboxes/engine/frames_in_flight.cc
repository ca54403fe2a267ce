// SPDX-License-Identifier: GPL-2.0-or-later
#include "frames_in_flight.h"

#include "ecn.h"

#include "ns3/simulator.h"

#include <algorithm>
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

std::size_t LargestFrame(std::span<const std::unique_ptr<Port>> ports)
{
    const auto largest = std::ranges::max_element(ports, {}, [](const auto& port) { return port->Mtu(); });
    return (*largest)->Mtu() + ETHERNET_HEADER + VLAN_TAG;
}

} // namespace

FramesInFlight::FramesInFlight(const Configuration& configuration,
                               std::span<const std::unique_ptr<Port>> ports,
                               EventQueue& events,
                               const Clock& clock,
                               PortCaptures& captures,
                               PortStages& stages)
    : m_ports(ports), m_events(events), m_clock(clock), m_captures(captures), m_stages(stages),
      m_slots(SLOTS, LargestFrame(ports), ports.size()), m_lateness(configuration.realtime.limitNs),
      m_records(configuration.records, configuration.clock == ClockKind::Virtual), m_departures(ports.size())
{
}

void FramesInFlight::Begin(Slot& slot, StationId station)
{
    ++m_counters.emitted;
    if (Staged(slot, station) != nullptr)
    {
        Depart(slot, station);
    }
}

void FramesInFlight::Depart(Slot& slot, StationId station)
{
    ++slot.departing;
    m_departures[station].push_back({&slot, m_events.NowNs(), false});
    if (m_waiting++ == 0 && m_notice)
    {
        m_notice();
    }
}

Slot* FramesInFlight::CopyOf(const Slot& original)
{
    auto* slot = m_slots.Take();
    if (slot == nullptr)
    {
        return nullptr;
    }
    std::ranges::copy(original.bytes, slot->room.begin());
    slot->bytes = slot->room.first(original.bytes.size());
    slot->identity = original.identity;
    slot->arrivalStamp = original.arrivalStamp;
    slot->enteredLate = original.enteredLate;
    slot->from = original.from;
    slot->trafficClass = original.trafficClass;
    Admit(*slot);
    return slot;
}

Slot& FramesInFlight::MarkedCopy(Slot& original)
{
    auto* slot = IsLast(original) ? &original : CopyOf(original);
    if (slot == nullptr)
    {
        return original;
    }
    MarkCongestionExperienced(slot->Writable());
    return *slot;
}

Slot* FramesInFlight::Staged(Slot& original, StationId station)
{
    if (!m_stages.Has(station))
    {
        return &original;
    }
    auto* slot = IsLast(original) ? &original : CopyOf(original);
    if (slot == nullptr)
    {
        CountLost(original, station, Loss::Unknown);
        return nullptr;
    }
    if (!m_stages.Leaving(station, slot->Writable(), m_events.NowNs()))
    {
        CountLost(*slot, station, Loss::Policed);
        ReleaseIfDone(*slot);
        return nullptr;
    }
    return slot;
}

std::optional<SlotId> FramesInFlight::Duplicate(SlotId frame, StationId station)
{
    const auto* original = m_slots.Find(frame);
    auto* slot = original == nullptr ? nullptr : CopyOf(*original);
    if (slot == nullptr)
    {
        return std::nullopt;
    }
    if (original->IsMarked(station))
    {
        MarkCongestionExperienced(slot->Writable());
    }
    slot->Await(station);
    ++m_counters.repeated;
    return slot->Id();
}

bool FramesInFlight::MarkCongestion(SlotId frame, std::optional<StationId> station)
{
    auto* slot = m_slots.Find(frame);
    if (slot == nullptr || (station && !slot->Awaits(*station)) || EcnOf(slot->bytes) == Ecn::NotEct)
    {
        return false;
    }
    ++m_counters.marked;
    const bool isOfAll = !station || slot->Outstanding() == 1;
    if (isOfAll && slot->departing == 0)
    {
        return MarkCongestionExperienced(slot->Writable());
    }
    for (StationId each = 0; each < m_ports.size(); ++each)
    {
        if (slot->Awaits(each) && (!station || *station == each))
        {
            slot->Mark(each);
        }
    }
    return true;
}

void FramesInFlight::Deliver(SlotId frame, StationId station)
{
    auto* slot = m_slots.Find(frame);
    const bool isMarked = slot != nullptr && slot->IsMarked(station);
    if (slot == nullptr || !slot->Settle(station))
    {
        ++m_counters.duplicates;
        return;
    }
    if (auto* leaving = Staged(isMarked ? MarkedCopy(*slot) : *slot, station))
    {
        Depart(*leaving, station);
    }
}

void FramesInFlight::Lose(SlotId frame, StationId station, Loss reason)
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

void FramesInFlight::LoseAll(SlotId frame, Loss reason)
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

void FramesInFlight::Absorb(SlotId frame)
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

void FramesInFlight::HandOver()
{
    for (StationId station = 0; station < m_ports.size() && m_waiting > 0; ++station)
    {
        HandOver(station);
    }
}

void FramesInFlight::HandOver(StationId station)
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
            m_ports[station]->counters.sentBytes += slot->bytes.size();
            m_ports[station]->counters.delayNs += stamp - slot->arrivalStamp;
            const auto lateness = now - due + slot->enteredLate;
            m_lateness.RecordFrame(due, lateness);
            Record(*slot, station, 0, stamp, lateness);
        }
        else
        {
            CountLost(*slot, station, Loss::Unknown);
        }
        --slot->departing;
        ReleaseIfDone(*slot);
    }
    m_waiting -= departures.size();
    waiting.erase(waiting.begin(), early);
}

std::int64_t FramesInFlight::NextDeparture() const
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

void FramesInFlight::Settle(Slot& slot, StationId station, Loss reason)
{
    slot.Settle(station);
    CountLost(slot, station, reason);
}

void FramesInFlight::CountLost(const Slot& slot, StationId station, Loss reason)
{
    ++m_counters.lost[reason];
    Record(slot, station, static_cast<std::uint8_t>(reason), 0, 0);
}

void FramesInFlight::Record(
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

void FramesInFlight::ReleaseIfDone(Slot& slot)
{
    if (slot.Outstanding() == 0 && slot.departing == 0)
    {
        m_slots.Release(slot);
        m_lastLeft = m_events.NowNs();
    }
}

void FramesInFlight::ExpectExpiry()
{
    if (const auto* oldest = m_slots.Oldest(); oldest != nullptr)
    {
        m_expiryExpected = true;
        ns3::Simulator::Schedule(
            ns3::NanoSeconds(oldest->admitted + EXPIRY - m_events.NowNs()), &FramesInFlight::Expire, this);
    }
}

void FramesInFlight::Expire()
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

Json FramesInFlight::Read() const
{
    return {{"delivered", m_counters.delivered},
            {"lost", m_counters.lost.Read()},
            {"inside", m_slots.Admitted()},
            {"duplicates", m_counters.duplicates},
            {"repeated", m_counters.repeated},
            {"emitted", m_counters.emitted},
            {"absorbed", m_counters.absorbed},
            {"marked", m_counters.marked}};
}

} // namespace netboxit
