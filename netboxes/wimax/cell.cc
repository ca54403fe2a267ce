// SPDX-License-Identifier: GPL-2.0-or-later
#include "cell.h"

#include "block_error.h"
#include "live_parameters.h"

#include "ns3/simulator.h"

#include <stdexcept>

namespace netboxit::wimax
{

namespace
{

/// Stream of the errors on the air; the stations' own streams begin at 16.
constexpr std::int64_t NOISE_STREAM = 0;

} // namespace

Cell::Cell(const SegmentSetup& setup)
    : m_configuration(setup),
      m_accounts(setup.fates, setup.stations.size()),
      m_layout(m_configuration.numerology, m_configuration.frame, setup.stations.size() - 1),
      m_receiverSnr(m_configuration.receiverSnr),
      m_base(m_configuration, m_accounts, std::make_unique<StrictPriority>(), std::make_unique<StrictPriority>()),
      m_noise(ns3::CreateObject<ns3::UniformRandomVariable>())
{
    m_noise->SetStream(NOISE_STREAM);
    for (StationId id = 0; id < m_configuration.stations.size(); ++id)
    {
        if (id == m_configuration.base)
        {
            continue;
        }
        const auto& name = m_configuration.stations[id].name;
        const auto uplink = m_configuration.FlowsOf(name, Direction::Uplink);
        m_indices[id] = m_subscribers.size();
        m_subscribers.push_back(std::make_unique<Subscriber>(id, uplink, m_configuration, m_accounts));
        m_base.Add(*m_subscribers.back(), uplink, m_configuration.FlowsOf(name, Direction::Downlink));
    }
    CheckReach(m_configuration);
    UpdateLinks();
    for (auto& subscriber : m_subscribers)
    {
        // The cell was on the air before the emulation began: who is in range has entered already.
        if (!subscriber->Entry().IsOut())
        {
            subscriber->Entry().BeOperational();
        }
    }
    ns3::Simulator::ScheduleNow(&Cell::BeginFrame, this);
}

void
Cell::Transmit(StationId from, Destination to, const Frame& frame)
{
    const auto subscriber = from == m_configuration.base ? to.station.value_or(from) : from;
    const auto bytes = frame.length + ETHERNET_HEADER;
    if (bytes + PDU_OVERHEAD + FRAGMENTATION_SUBHEADER > MAXIMUM_PDU)
    {
        m_accounts.RefuseAll(frame, subscriber, Loss::Unsupported);
    }
    else if (from == m_configuration.base)
    {
        SendDownlink(from, to, frame);
    }
    else if (auto& station = *m_subscribers[m_indices.at(from)]; !station.Entry().IsOperational())
    {
        m_accounts.RefuseAll(frame, from, Loss::Outage);
    }
    else
    {
        station.Enqueue(std::make_shared<Sdu>(
            Sdu{frame, from, to, {m_configuration.base}, {false}, true, bytes, 0, ns3::Simulator::Now()}));
    }
}

void
Cell::SendDownlink(StationId from, Destination to, const Frame& frame)
{
    std::vector<StationId> receivers;
    for (const auto& subscriber : m_subscribers)
    {
        const auto id = subscriber->Id();
        if (to.IsEveryone() ? id == from : id != *to.station)
        {
            continue;
        }
        if (subscriber->Entry().IsOperational())
        {
            receivers.push_back(id);
        }
        else
        {
            m_accounts.Refuse(frame, id, id, Loss::Outage);
        }
    }
    if (receivers.empty())
    {
        return;
    }
    const auto only = m_indices.at(receivers.front());
    const bool alone = receivers.size() == 1;
    std::vector<bool> corrupted(receivers.size(), false);
    auto sdu = std::make_shared<Sdu>(Sdu{frame,
                                         from,
                                         to,
                                         std::move(receivers),
                                         std::move(corrupted),
                                         false,
                                         frame.length + ETHERNET_HEADER,
                                         0,
                                         ns3::Simulator::Now()});
    // A group of one is served on that station's own connection, with the class's own QoS.
    alone ? m_base.Enqueue(only, std::move(sdu)) : m_base.EnqueueBroadcast(std::move(sdu));
}

void
Cell::BeginFrame()
{
    const auto now = ns3::Simulator::Now();
    for (auto& subscriber : m_subscribers)
    {
        subscriber->Entry().Advance(now);
    }
    const bool sameFrame = m_configuration.mapRelevance == MapRelevance::SameFrame;
    const auto announced = m_base.PlanUplink(m_layout, sameFrame ? m_frame : m_frame + 1, now);
    const auto downlink = m_base.PlanDownlink(m_layout, announced, now);
    for (const auto& grant : announced.grants)
    {
        m_subscribers[m_indices.at(grant.subscriber)]->HearGrant(grant, now);
    }
    for (const auto& burst : downlink.bursts)
    {
        SendDownlinkBurst(burst);
    }
    const auto uplink = sameFrame ? announced : std::exchange(m_nextMap, announced);
    ns3::Simulator::Schedule(m_layout.UplinkStart(), &Cell::Contend, this, uplink.ranging);
    for (const auto& grant : uplink.grants)
    {
        // Ranging has taught the station to send earlier by the propagation delay, so that bursts arrive where the map says.
        const auto start =
            m_layout.UplinkStart() + m_layout.Symbols(grant.firstSymbol) - Propagation(grant.subscriber);
        ns3::Simulator::Schedule(start, &Cell::SendUplinkBurst, this, grant);
    }
    m_downlinkSymbolsUsed += downlink.symbols;
    m_uplinkSymbolsUsed += uplink.symbols;
    ++m_frame;
    ns3::Simulator::Schedule(m_layout.Duration() * m_frame - now, &Cell::BeginFrame, this);
}

void
Cell::Contend(bool ranging)
{
    if (ranging)
    {
        RangeInitially();
    }
    if (m_layout.RequestOpportunities() > 0)
    {
        RequestInContention();
    }
}

void
Cell::RangeInitially()
{
    const auto now = ns3::Simulator::Now();
    std::vector<Subscriber*> heard;
    for (auto& subscriber : m_subscribers)
    {
        if (subscriber->Entry().Contends(now))
        {
            heard.push_back(subscriber.get());
        }
    }
    for (auto* subscriber : heard)
    {
        if (heard.size() == 1)
        {
            subscriber->Entry().Heard(now, m_layout.Duration());
        }
        else
        {
            subscriber->Entry().Collided(now);
        }
    }
}

void
Cell::RequestInContention()
{
    std::map<std::uint32_t, std::vector<std::pair<std::size_t, BandwidthRequest>>> opportunities;
    for (std::size_t index = 0; index < m_subscribers.size(); ++index)
    {
        if (!m_subscribers[index]->Entry().IsOperational())
        {
            continue;
        }
        if (const auto sent = m_subscribers[index]->Contend(m_layout.RequestOpportunities(), ns3::Simulator::Now()))
        {
            opportunities[sent->first].emplace_back(index, sent->second);
        }
    }
    for (const auto& [opportunity, requests] : opportunities)
    {
        if (requests.size() > 1)
        {
            ++m_requestCollisions;
            continue;
        }
        const auto& [index, request] = requests.front();
        const auto errors = m_subscribers[index]->Uplink().BlockErrorRateAt(MOST_ROBUST);
        if (!Corrupts(errors, 0, BANDWIDTH_REQUEST_HEADER, MOST_ROBUST))
        {
            m_base.HearRequest(index, request);
        }
    }
}

void
Cell::SendUplinkBurst(const UplinkGrant& grant)
{
    const auto index = m_indices.at(grant.subscriber);
    auto& subscriber = *m_subscribers[index];
    if (!subscriber.Entry().IsOperational())
    {
        return;
    }
    const auto errors = subscriber.Uplink().BlockErrorRateAt(grant.profile);
    const auto perSymbol = PROFILES[grant.profile].bytesPerSymbol;
    const auto burst = subscriber.Transmit(grant, ns3::Simulator::Now());
    std::uint32_t offset = 0;
    for (const auto& request : burst.headers)
    {
        if (!Corrupts(errors, offset, BANDWIDTH_REQUEST_HEADER, grant.profile))
        {
            m_base.HearRequest(index, request);
        }
        offset += BANDWIDTH_REQUEST_HEADER;
    }
    for (const auto& [pdu, flow, place, piggyback] : burst.pdus)
    {
        if (Corrupts(errors, place, pdu.bytes, grant.profile))
        {
            pdu.sdu->corrupted[0] = true;
        }
        else if (m_base.HearPdu(index, flow, pdu); piggyback > 0)
        {
            m_base.HearRequest(index, {flow, piggyback, true});
        }
        if (pdu.last)
        {
            const auto symbols = SHORT_PREAMBLE + (place + pdu.bytes - 1) / perSymbol + 1;
            ns3::Simulator::Schedule(m_layout.Symbols(symbols) + Propagation(grant.subscriber),
                                     &Cell::ArriveAtBase,
                                     this,
                                     pdu.sdu);
        }
    }
}

void
Cell::SendDownlinkBurst(const DownlinkBurst& burst)
{
    const auto perSymbol = PROFILES[burst.profile].bytesPerSymbol;
    for (const auto& [pdu, offset] : burst.pdus)
    {
        const auto symbols = burst.firstSymbol + (offset + pdu.bytes - 1) / perSymbol + 1;
        for (std::size_t receiver = 0; receiver < pdu.sdu->receivers.size(); ++receiver)
        {
            const auto station = pdu.sdu->receivers[receiver];
            const auto errors =
                m_subscribers[m_indices.at(station)]->Downlink().BlockErrorRateAt(burst.profile);
            if (Corrupts(errors, offset, pdu.bytes, burst.profile))
            {
                pdu.sdu->corrupted[receiver] = true;
            }
            if (pdu.last)
            {
                ns3::Simulator::Schedule(m_layout.Symbols(symbols) + Propagation(station),
                                         &Cell::ArriveAtSubscriber,
                                         this,
                                         pdu.sdu,
                                         receiver);
            }
        }
    }
}

void
Cell::ArriveAtBase(const std::shared_ptr<Sdu>& sdu)
{
    if (sdu->corrupted[0])
    {
        m_accounts.Lose(*sdu, Loss::OnAir);
        return;
    }
    const bool toBase = sdu->to.IsEveryone() || *sdu->to.station == m_configuration.base;
    if (toBase)
    {
        m_accounts.Deliver(*sdu, m_configuration.base, sdu->from);
    }
    if (sdu->to.IsEveryone() || !toBase)
    {
        SendDownlink(sdu->from, sdu->to, sdu->frame);
    }
}

void
Cell::ArriveAtSubscriber(const std::shared_ptr<Sdu>& sdu, std::size_t receiver)
{
    const auto station = sdu->receivers[receiver];
    if (!m_subscribers[m_indices.at(station)]->Entry().IsOperational())
    {
        m_accounts.LoseCopy(*sdu, station, Loss::Outage);
    }
    else if (sdu->corrupted[receiver])
    {
        m_accounts.LoseCopy(*sdu, station, Loss::OnAir);
    }
    else
    {
        m_accounts.Deliver(*sdu, station, station);
    }
}

void
Cell::UpdateLinks()
{
    const LinkBudget budget(m_configuration.radio, m_configuration.numerology);
    for (std::size_t index = 0; index < m_subscribers.size(); ++index)
    {
        UpdateLink(index, budget);
    }
}

void
Cell::UpdateLink(std::size_t index, const LinkBudget& budget)
{
    auto& subscriber = *m_subscribers[index];
    const auto& station = m_configuration.stations[subscriber.Id()];
    const auto& base = m_configuration.stations[m_configuration.base];
    const double gains = station.antennaGainDbi + base.antennaGainDbi;
    const double distance = m_configuration.DistanceM(station);
    const double hysteresis = m_configuration.hysteresisDb;
    subscriber.Downlink().Update(budget.SnrDb(m_configuration.TxPowerDbm(base), gains, distance),
                                 m_receiverSnr,
                                 hysteresis);
    subscriber.Uplink().Update(budget.SnrDb(m_configuration.TxPowerDbm(station), gains, distance),
                               m_receiverSnr,
                               hysteresis);
    const bool received = subscriber.Downlink().Profile() && subscriber.Uplink().Profile();
    auto& entry = subscriber.Entry();
    // At the very beginning a threshold reached is enough; a link that was lost comes back only with hysteresis.
    const bool mayReturn = m_frame == 0 || (subscriber.Downlink().MayReturn(m_receiverSnr, hysteresis) &&
                                            subscriber.Uplink().MayReturn(m_receiverSnr, hysteresis));
    if (!received && !entry.IsOut())
    {
        entry.LoseSignal();
        subscriber.Abandon();
        m_base.Abandon(index);
    }
    else if (received && entry.IsOut() && mayReturn)
    {
        entry.FindSignal();
    }
}

void
Cell::Set(std::string_view parameter, const Json& value)
{
    auto changed = m_configuration;
    SetLive(changed, parameter, value);
    m_configuration = changed;
    UpdateLinks();
}

ns3::Time
Cell::Propagation(StationId subscriber) const
{
    return ns3::Seconds(m_configuration.DistanceM(m_configuration.stations[subscriber]) / SPEED_OF_LIGHT);
}

bool
Cell::Corrupts(double blockErrorRate, std::uint32_t offset, std::uint32_t bytes, ProfileId profile)
{
    const auto perSymbol = PROFILES[profile].bytesPerSymbol;
    const auto blocks = (offset + bytes - 1) / perSymbol - offset / perSymbol + 1;
    return m_noise->GetValue() < PduErrorRate(blockErrorRate, blocks);
}

bool
Cell::Ready() const
{
    return std::all_of(m_subscribers.begin(), m_subscribers.end(), [](const auto& subscriber) {
        return subscriber->Entry().IsOperational();
    });
}

Json
Cell::Read() const
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
        counters["queued_bytes_downlink"] = m_base.QueuedBytes(index);
        stations[name] = std::move(counters);
        const auto profile = [](const Link& link) {
            return link.Profile() ? Json(PROFILES[*link.Profile()].name) : Json();
        };
        links[name] = {{"state", subscriber.Entry().Name()},
                       {"downlink_profile", profile(subscriber.Downlink())},
                       {"uplink_profile", profile(subscriber.Uplink())},
                       {"uplink_flows", subscriber.ReadFlows()},
                       {"downlink_flows", m_base.ReadFlows(index)}};
    }
    const auto overhead = m_layout.DownlinkOverhead(1, 1, false);
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
              {"downlink_overhead_symbols", overhead},
              {"uplink_overhead_symbols", m_layout.UplinkOverhead(false)},
              {"ranging_symbols", m_layout.RangingSymbols()}}}};
}

} // namespace netboxit::wimax
