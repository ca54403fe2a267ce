// SPDX-License-Identifier: GPL-2.0-or-later
#include "cell.h"

#include "live_parameters.h"

#include "ns3/simulator.h"

#include <algorithm>
#include <utility>

namespace netboxit::wimax
{

void Cell::Set(std::string_view parameter, const Json& value)
{
    const auto target = TargetOf(parameter, m_names);
    if (!target.station && target.parameter == "queue")
    {
        SetQueue(value);
        return;
    }
    auto changed = m_configuration;
    auto places = m_places;
    SetLive(changed, places, target, value);
    m_configuration = std::move(changed);
    m_places = std::move(places);
    m_budget.emplace(m_configuration.radio, m_configuration.numerology);
    UpdateLinks();
}

void Cell::SetQueue(const Json& queue)
{
    const auto now = ns3::Simulator::Now();
    // Throws, if at all, before anything is changed.
    m_baseDownlink.SetQueue(queue, m_layout, now);
    for (auto& subscriber : m_subscribers)
    {
        subscriber->SetQueue(queue, m_layout, now);
    }
}

double Cell::RateBps(const Link& link) const
{
    return link.Profile() ? 8.0 * PROFILES[*link.Profile()].bytesPerSymbol / m_configuration.numerology.symbolS : 0.0;
}

std::vector<Unlinked> Cell::WithoutLink() const
{
    std::vector<Unlinked> found;
    for (std::size_t index = 0; index < m_subscribers.size(); ++index)
    {
        if (const auto& entry = m_subscribers[index]->Entry(); !entry.IsOperational())
        {
            found.push_back({m_subscribers[index]->Id(), {{"reason", entry.IsOut() ? ReasonOfLoss(index) : entry.Name()}}});
        }
    }
    return found;
}

LinkState Cell::AloneState(std::size_t index) const
{
    const auto& subscriber = *m_subscribers[index];
    // What comes in waits for the next frame at most, in which it is sent.
    LinkState state{.latency = (m_layout.Duration() + Propagation(subscriber.Id())).GetNanoSeconds()};
    if (const auto& entry = subscriber.Entry(); entry.IsOperational() && subscriber.Downlink().Profile() && subscriber.Uplink().Profile())
    {
        const auto rate = [this](std::uint32_t bytes) { return static_cast<std::uint64_t>(8 * bytes / m_layout.Duration().GetSeconds()); };
        state.transmit = rate(m_layout.LargestUplinkBurst(*subscriber.Uplink().Profile()));
        state.receive = rate(m_layout.LargestDownlinkBurst(*subscriber.Downlink().Profile()));
    }
    return state;
}

std::optional<LinkState> Cell::StateOf(StationId station) const
{
    if (station != m_configuration.base)
    {
        return AloneState(m_indices[station]);
    }
    // The base has a rate to each of its subscribers: the best of them.
    LinkState state;
    for (std::size_t index = 0; index < m_subscribers.size(); ++index)
    {
        const auto alone = AloneState(index);
        state.transmit = std::max(state.transmit, alone.receive);
        state.receive = std::max(state.receive, alone.transmit);
        state.latency = std::max(state.latency, alone.latency);
    }
    return state;
}

bool Cell::Ready() const
{
    return std::ranges::all_of(m_subscribers,
                               [](const auto& subscriber)
                               { return subscriber->Entry().IsOperational() || subscriber->Entry().IsOut(); });
}

Json Cell::Read() const
{
    const auto now = ns3::Simulator::Now();
    Json stations = Json::object();
    Json links = Json::object();
    for (std::size_t index = 0; index < m_subscribers.size(); ++index)
    {
        const auto& subscriber = *m_subscribers[index];
        const auto& name = m_configuration.stations[subscriber.Id()].name;
        auto counters = m_accounts.Read(subscriber.Id());
        const auto& radio = m_radios[index];
        counters["distance_m"] = radio.distanceM;
        counters["fade_db"] = radio.fadeDb;
        counters["rate_bps_downlink"] = RateBps(subscriber.Downlink());
        counters["rate_bps_uplink"] = RateBps(subscriber.Uplink());
        counters["downlink_symbols"] = radio.downlinkSymbols;
        counters["uplink_symbols"] = radio.uplinkSymbols;
        counters["requests"] = subscriber.Requests();
        counters["request_collisions"] = radio.requestCollisions;
        counters["retries"] = subscriber.Retries();
        counters["polls"] = subscriber.Polls();
        counters["snr_db_downlink"] = subscriber.Downlink().SnrDb();
        counters["snr_db_uplink"] = subscriber.Uplink().SnrDb();
        counters["queued_bytes_uplink"] = subscriber.QueuedBytes();
        counters["queued_bytes_downlink"] = m_baseDownlink.QueuedBytes(index);
        stations[name] = std::move(counters);
        const auto profile = [](const Link& link)
        { return link.Profile() ? Json(PROFILES[*link.Profile()].name) : Json(); };
        links[name] = {{"state", subscriber.Entry().Name()},
                       {"downlink_profile", profile(subscriber.Downlink())},
                       {"uplink_profile", profile(subscriber.Uplink())},
                       {"uplink_flows", subscriber.ReadFlows(now)},
                       {"downlink_flows", m_baseDownlink.ReadFlows(index, now)}};
    }
    stations[m_configuration.stations[m_configuration.base].name] = {
        {"frames", m_frame - m_frameAtReset},
        {"downlink_symbols_used", m_downlinkSymbolsUsed},
        {"uplink_symbols_used", m_uplinkSymbolsUsed},
        {"request_collisions", m_requestCollisions},
        {"queue", m_baseDownlink.ReadQueue(now)}};
    return {{"stations", std::move(stations)},
            {"links", std::move(links)},
            {"frame",
             {{"symbol_us", m_configuration.numerology.symbolS * 1e6},
              {"sampling_frequency_hz", m_configuration.numerology.samplingFrequencyHz},
              {"downlink_symbols", m_layout.DownlinkSymbols()},
              {"uplink_symbols", m_layout.UplinkSymbols()},
              {"downlink_overhead_symbols", m_layout.DownlinkOverhead(1, 1, false)},
              {"uplink_overhead_symbols", m_layout.UplinkOverhead(false)},
              {"ranging_symbols", m_layout.RangingSymbols()},
              {"reserved_downlink_symbols", m_booking[1].symbols},
              {"reserved_uplink_symbols", m_booking[0].symbols}}}};
}

void Cell::Reset()
{
    const auto now = ns3::Simulator::Now();
    m_accounts.Reset();
    for (const auto& subscriber : m_subscribers)
    {
        subscriber->ResetStatistics(now);
    }
    for (auto& radio : m_radios)
    {
        radio.uplinkSymbols = radio.requestCollisions = 0;
        radio.downlinkSymbols = 0.0;
    }
    m_baseDownlink.ResetQueueStatistics(now);
    m_frameAtReset = m_frame;
    m_downlinkSymbolsUsed = m_uplinkSymbolsUsed = m_requestCollisions = 0;
}

} // namespace netboxit::wimax
