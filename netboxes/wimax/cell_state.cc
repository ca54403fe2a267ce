// SPDX-License-Identifier: GPL-2.0-or-later
#include "cell.h"

#include "live_parameters.h"

#include <algorithm>

namespace netboxit::wimax
{

void Cell::UpdateLinks()
{
    const LinkBudget budget(m_configuration.radio, m_configuration.numerology);
    for (std::size_t index = 0; index < m_subscribers.size(); ++index)
    {
        UpdateLink(index, budget);
    }
}

void Cell::UpdateLink(std::size_t index, const LinkBudget& budget)
{
    auto& subscriber = *m_subscribers[index];
    const auto& station = m_configuration.stations[subscriber.Id()];
    const auto& base = m_configuration.stations[m_configuration.base];
    const double gains = station.antennaGainDbi + base.antennaGainDbi;
    const double distance = m_configuration.DistanceM(station);
    const double hysteresis = m_configuration.hysteresisDb;
    subscriber.Downlink().Update(
        budget.SnrDb(m_configuration.TxPowerDbm(base), gains, distance), m_receiverSnr, hysteresis);
    subscriber.Uplink().Update(
        budget.SnrDb(m_configuration.TxPowerDbm(station), gains, distance), m_receiverSnr, hysteresis);
    const bool received = subscriber.Downlink().Profile() && subscriber.Uplink().Profile();
    auto& entry = subscriber.Entry();
    // At the very beginning a threshold reached is enough; a link that was lost comes back only with
    // hysteresis.
    const bool mayReturn = m_frame == 0 || (subscriber.Downlink().MayReturn(m_receiverSnr, hysteresis) &&
                                            subscriber.Uplink().MayReturn(m_receiverSnr, hysteresis));
    if (!received && !entry.IsOut())
    {
        entry.LoseSignal();
        subscriber.Abandon();
        m_baseUplink.Abandon(index);
        m_baseDownlink.Abandon(index);
    }
    else if (received && entry.IsOut() && mayReturn)
    {
        entry.FindSignal();
    }
}

void Cell::Set(std::string_view parameter, const Json& value)
{
    auto changed = m_configuration;
    SetLive(changed, parameter, value);
    m_configuration = changed;
    UpdateLinks();
}

bool Cell::Ready() const
{
    return std::all_of(m_subscribers.begin(),
                       m_subscribers.end(),
                       [](const auto& subscriber) { return subscriber->Entry().IsOperational(); });
}

Json Cell::Read() const
{
    Json stations = Json::object();
    Json links = Json::object();
    for (std::size_t index = 0; index < m_subscribers.size(); ++index)
    {
        const auto& subscriber = *m_subscribers[index];
        const auto& name = m_configuration.stations[subscriber.Id()].name;
        auto counters = m_accounts.Read(subscriber.Id());
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
                       {"uplink_flows", subscriber.ReadFlows()},
                       {"downlink_flows", m_baseDownlink.ReadFlows(index)}};
    }
    stations[m_configuration.stations[m_configuration.base].name] = {
        {"frames", m_frame},
        {"downlink_symbols_used", m_downlinkSymbolsUsed},
        {"uplink_symbols_used", m_uplinkSymbolsUsed},
        {"request_collisions", m_requestCollisions}};
    return {{"stations", std::move(stations)},
            {"links", std::move(links)},
            {"frame",
             {{"symbol_us", m_configuration.numerology.symbolS * 1e6},
              {"sampling_frequency_hz", m_configuration.numerology.samplingFrequencyHz},
              {"downlink_symbols", m_layout.DownlinkSymbols()},
              {"uplink_symbols", m_layout.UplinkSymbols()},
              {"downlink_overhead_symbols", m_layout.DownlinkOverhead(1, 1, false)},
              {"uplink_overhead_symbols", m_layout.UplinkOverhead(false)},
              {"ranging_symbols", m_layout.RangingSymbols()}}}};
}

} // namespace netboxit::wimax
