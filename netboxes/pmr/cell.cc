// SPDX-License-Identifier: GPL-2.0-or-later
#include "cell.h"

#include "ns3/simulator.h"

namespace netboxit
{

namespace
{

constexpr std::int64_t BACKOFF_STREAM = 7002;
constexpr std::int64_t FIRST_QUEUE_STREAM = 10'000; ///< a number for each two stations, and for each station and everyone
/// Longest N-PDU of SNDCP (EN 300 392-2, clause 28), bytes.
constexpr std::uint32_t LONGEST_PACKET = 2002;

std::int64_t Now()
{
    return ns3::Simulator::Now().GetNanoSeconds();
}

std::int64_t NanosecondsOf(const Json& seconds)
{
    return ns3::Seconds(seconds.get<double>()).GetNanoSeconds();
}

} // namespace

Cell::Cell(const SegmentSetup& setup, Radio& radio)
    : m_names(setup.stations), m_fates(setup.fates), m_frames(setup.frames), m_announcements(setup.announcements), m_radio(radio),
      m_format(BlockFormat::Of(setup.parameters.at("protection").get<std::string>())),
      m_carriers(setup.parameters.at("carriers")), m_slots(setup.parameters.at("slots")),
      m_acknowledged(setup.parameters.at("acknowledged")),
      m_retransmissions(setup.parameters.at("retransmissions")),
      m_setupTime(ns3::Seconds(setup.parameters.at("call_setup_time").get<double>())),
      m_hangTime(ns3::Seconds(setup.parameters.at("hang_time").get<double>())),
      m_turnaround(NanosecondsOf(setup.parameters.at("turnaround_time"))),
      m_floorTime(NanosecondsOf(setup.parameters.at("floor_time"))),
      m_longestCall(NanosecondsOf(setup.parameters.at("longest_call"))),
      m_accessAttempts(setup.parameters.at("access_attempts")),
      m_accessTimeout(setup.parameters.at("access_timeout")),
      m_accessFrame(setup.parameters.at("access_frame")),
      m_backoff(ns3::CreateObject<ns3::UniformRandomVariable>()), m_up(setup.stations.size(), true)
{
    m_backoff->SetStream(BACKOFF_STREAM);
    const auto parties = static_cast<std::int64_t>(m_names.size()) + 1;
    for (std::int64_t id = 0; id + 1 < parties; ++id)
    {
        m_stations.emplace_back(setup.parameters.at("queue"),
                                FIRST_QUEUE_STREAM + id * parties,
                                [this](const Packet& packet, Loss reason) { Lose(packet, reason); },
                                [this](const Packet& packet) { return m_frames.MarkCongestion(packet.slot, packet.to); });
    }
    if (const auto& name = setup.parameters.at("emergency_class"); name.is_string())
    {
        const auto found = std::ranges::find(setup.classes, name.get<std::string>());
        m_emergency = static_cast<ClassId>(found - setup.classes.begin());
    }
}

void Cell::Transmit(const Packet& packet)
{
    auto& station = m_stations[packet.from];
    if (packet.length > LONGEST_PACKET)
    {
        Lose(packet, Loss::Unsupported);
    }
    else if (!m_radio.InService(packet.from) || (packet.to && !m_radio.Connected(packet.from, *packet.to)))
    {
        Lose(packet, Loss::Outage);
    }
    else if (station.Enqueue(packet, m_frames.Read(packet.slot), Rate()))
    {
        ExpireInTime(packet);
        Serve(packet.from);
    }
}

void Cell::ExpireInTime(const Packet& packet)
{
    const auto left = packet.queued + m_stations[packet.from].Lifetime() - Now();
    if (left <= 0)
    {
        Expire(packet.from);
        return;
    }
    ns3::Simulator::Schedule(ns3::NanoSeconds(left), &Cell::Expire, this, packet.from);
}

void Cell::Expire(StationId station)
{
    m_stations[station].Expire(Now());
}

double Cell::Rate() const
{
    const auto bits = m_slots * m_format.bits * (tdma::FRAMES - 1);
    return 1e9 * static_cast<double>(bits) / static_cast<double>(tdma::SlotStart(tdma::FRAMES, 0));
}

void Cell::SetQueue(const Json& queue)
{
    for (auto& station : m_stations)
    {
        station.SetQueue(queue, Now(), Rate());
        for (const auto& packet : station.Waiting())
        {
            ExpireInTime(packet);
        }
    }
}

void Cell::Lose(const Packet& packet, Loss reason)
{
    ++m_stations[packet.from].counters.lost[reason];
    if (packet.to)
    {
        m_fates.Lose(packet.slot, *packet.to, reason);
    }
    else
    {
        m_fates.LoseAll(packet.slot, reason);
    }
}

bool Cell::IsInCall(StationId station) const
{
    return CallOf(station) != nullptr;
}

Cell::Call* Cell::CallOf(StationId terminal) const
{
    const auto found = std::ranges::find_if(m_calls, [&](const auto& call) { return call->members[terminal]; });
    return IsBase(terminal) || found == m_calls.end() ? nullptr : found->get();
}

Cell::Call* Cell::CallBetween(StationId station, std::optional<StationId> other)
{
    const auto found = std::ranges::find_if(
        m_calls,
        [&](const auto& call)
        { return call->members[station] && call->to.has_value() == other.has_value() && (!other || call->members[*other]); });
    return found == m_calls.end() ? nullptr : found->get();
}

Cell::Call* Cell::Find(std::uint64_t id)
{
    const auto found = std::ranges::find_if(m_calls, [&](const auto& call) { return call->id == id; });
    return found == m_calls.end() ? nullptr : found->get();
}

std::optional<StationId> Cell::Addressee(const Call& call, StationId station) const
{
    return !call.to ? std::nullopt : std::optional(station == call.from ? *call.to : call.from);
}

std::vector<Unlinked> Cell::WithoutLink() const
{
    std::vector<Unlinked> found;
    for (StationId id = 0; id < m_stations.size(); ++id)
    {
        if (!m_up[id])
        {
            found.push_back({id, {{"reason", WhyDown(id)}}});
        }
    }
    return found;
}

const char* Cell::WhyDown(StationId station) const
{
    return m_radio.IsOff(station) ? "outage" : m_radio.InService(station, false) ? "faded" : "out of range";
}

void Cell::LookAtLinks()
{
    for (StationId id = 0; id < m_stations.size(); ++id)
    {
        const bool up = m_radio.InService(id);
        if (up == m_up[id])
        {
            continue;
        }
        m_up[id] = up;
        if (up)
        {
            m_announcements.Announce("link_up", id);
            continue;
        }
        m_announcements.Announce("link_down", id, {{"reason", WhyDown(id)}});
        std::erase_if(m_requests, [&](const Request& request) { return request.from == id; });
        std::vector<std::uint64_t> ended;
        for (const auto& call : m_calls)
        {
            if (call->from == id || call->to == id)
            {
                ended.push_back(call->id);
            }
        }
        std::ranges::for_each(ended, [this](std::uint64_t call) { EndCall(call); });
        m_stations[id].LoseAll(Loss::Outage, Now());
    }
}

void Cell::SetSlots(std::uint32_t slots)
{
    if (slots > 1 && !m_radio.Base())
    {
        throw OutOfRange("pmr: direct mode has one slot a call (EN 300 396-2)");
    }
    if (slots > 3 && m_carriers == 1)
    {
        throw OutOfRange("pmr: one carrier has 3 slots beside the control channel");
    }
    m_slots = slots;
}

Json Cell::Read() const
{
    Json stations = Json::object();
    for (StationId id = 0; id < m_stations.size(); ++id)
    {
        auto& counters = stations[m_names[id]];
        counters = m_stations[id].Read(m_names, Now());
        counters["link"] = static_cast<bool>(m_up[id]);
        counters["in_call"] =
            std::ranges::any_of(m_calls, [&](const auto& call) { return static_cast<bool>(call->members[id]); });
        if (const auto base = m_radio.Base(); base && !IsBase(id))
        {
            counters["signal"] = m_radio.Power(*base, id);
            counters["snr"] = m_radio.Snr(*base, id);
            counters["snr_at_base"] = m_radio.Snr(id, *base);
        }
    }
    const auto waiting = std::ranges::count(m_requests, Request::Stage::Waiting, &Request::stage);
    std::int64_t slots = 0;
    for (const auto& call : m_calls)
    {
        slots += call->slots.count;
    }
    return {{"stations", stations}, {"calls", m_calls.size()}, {"calls_waiting", waiting}, {"slots_held", slots}};
}

void Cell::Reset()
{
    std::ranges::for_each(m_stations, [](Terminal& station) { station.Reset(Now()); });
}

} // namespace netboxit
