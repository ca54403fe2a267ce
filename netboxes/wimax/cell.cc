// SPDX-License-Identifier: GPL-2.0-or-later
#include "cell.h"

#include "live_parameters.h"

#include "ns3/simulator.h"

#include <algorithm>
#include <stdexcept>

namespace netboxit::wimax
{

namespace
{

/// Stream of the errors on the air; the stations' own streams begin at 16.
constexpr std::int64_t NOISE_STREAM = 0;
constexpr std::int64_t SHADOWING_STREAM = 1 << 21;

} // namespace

Cell::Cell(const SegmentSetup& setup)
    : m_configuration(setup), m_announcements(setup.announcements), m_frames(setup.frames), m_names(setup.stations),
      m_places(setup, m_configuration), m_accounts(setup.fates, setup.frames, setup.stations.size()),
      m_layout(m_configuration.numerology, m_configuration.frame, setup.stations.size() - 1),
      m_receiverSnr(m_configuration.receiverSnrDb, m_configuration.fixedProfile),
      m_baseUplink(m_configuration, MakeScheduler(m_configuration.scheduler)),
      m_baseDownlink(m_configuration, m_names, m_accounts, MakeScheduler(m_configuration.scheduler)),
      m_noise(ns3::CreateObject<ns3::UniformRandomVariable>())
{
    m_noise->SetStream(NOISE_STREAM);
    m_indices.resize(m_configuration.stations.size());
    for (StationId id = 0; id < m_configuration.stations.size(); ++id)
    {
        if (id == m_configuration.base)
        {
            continue;
        }
        const auto& name = m_configuration.stations[id].name;
        const auto uplink = m_configuration.FlowsOf(name, Direction::Uplink);
        m_indices[id] = m_subscribers.size();
        m_subscribers.push_back(std::make_unique<Subscriber>(id, uplink, m_configuration, m_names, m_accounts));
        m_radios.push_back({Shadowing(m_configuration.shadowingDb,
                                      m_configuration.shadowingCorrelationM,
                                      SHADOWING_STREAM + static_cast<std::int64_t>(id))});
        m_baseUplink.Add(*m_subscribers.back(), uplink);
        m_baseDownlink.Add(*m_subscribers.back(), m_configuration.FlowsOf(name, Direction::Downlink));
    }
    CheckReach(m_configuration, m_places);
    m_budget.emplace(m_configuration.radio, m_configuration.numerology);
    m_changing = m_places.Moves() || m_configuration.fadeSeries ||
                 std::ranges::any_of(m_configuration.stations,
                                     [](const StationConfiguration& station) { return station.fadeSeries.has_value(); });
    UpdateLinks();
    for (std::size_t index = 0; index < m_subscribers.size(); ++index)
    {
        // The cell was on the air before the emulation began: who is in range has entered already.
        auto& entry = m_subscribers[index]->Entry();
        m_radios[index].announcedUp = !entry.IsOut();
        if (!entry.IsOut())
        {
            entry.BeOperational();
        }
    }
    ns3::Simulator::ScheduleNow(&Cell::BeginFrame, this);
}

void Cell::Transmit(StationId from, Destination to, const Frame& frame)
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
    else if (auto& station = *m_subscribers[m_indices[from]]; !station.Entry().IsOperational())
    {
        m_accounts.RefuseAll(frame, from, Loss::Outage);
    }
    else
    {
        const auto sdu = std::make_shared<Sdu>(
            Sdu{frame, from, to, {m_configuration.base}, {false}, true, bytes, 0, ns3::Simulator::Now()});
        station.Enqueue(sdu, m_frames.Read(frame.slot), m_layout);
    }
}

void Cell::SendDownlink(StationId from, Destination to, const Frame& frame)
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
    const auto only = m_indices[receivers.front()];
    const bool alone = receivers.size() == 1;
    std::vector<bool> corrupted(receivers.size(), false);
    const auto sdu = std::make_shared<Sdu>(Sdu{frame,
                                               from,
                                               to,
                                               std::move(receivers),
                                               std::move(corrupted),
                                               false,
                                               frame.length + ETHERNET_HEADER,
                                               0,
                                               ns3::Simulator::Now()});
    const auto bytes = m_frames.Read(frame.slot);
    // A group of one is served on that station's own connection, with the class's own QoS.
    alone ? m_baseDownlink.Enqueue(only, sdu, bytes, m_layout) : m_baseDownlink.EnqueueBroadcast(sdu, bytes, m_layout);
}

void Cell::BeginFrame()
{
    const auto now = ns3::Simulator::Now();
    if (m_changing)
    {
        UpdateLinks();
    }
    for (std::size_t index = 0; index < m_subscribers.size(); ++index)
    {
        auto& subscriber = m_subscribers[index];
        if (subscriber->Entry().Advance(now))
        {
            AnnounceUp(index);
        }
        if (const auto profile = subscriber->Uplink().Profile())
        {
            subscriber->DropOversize(m_layout.LargestUplinkBurst(*profile), now);
        }
    }
    if (m_bookingStale)
    {
        CheckBooking();
    }
    const bool sameFrame = m_configuration.mapRelevance == MapRelevance::SameFrame;
    const auto announced = m_baseUplink.Plan(m_layout, sameFrame ? m_frame : m_frame + 1, now);
    const auto downlink = m_baseDownlink.Plan(m_layout, announced, now);
    for (const auto& grant : announced.grants)
    {
        m_subscribers[m_indices[grant.subscriber]]->HearGrant(grant, now);
    }
    for (const auto& burst : downlink.bursts)
    {
        SendDownlinkBurst(burst);
    }
    const auto uplink = sameFrame ? announced : std::exchange(m_nextMap, announced);
    ns3::Simulator::Schedule(m_layout.UplinkStart(), &Cell::Contend, this, uplink.ranging);
    for (const auto& grant : uplink.grants)
    {
        // Ranging has taught the station to send earlier by the propagation delay, so that bursts arrive
        // where the map says.
        const auto start =
            m_layout.UplinkStart() + m_layout.Symbols(grant.firstSymbol) - Propagation(grant.subscriber);
        ns3::Simulator::Schedule(start, &Cell::SendUplinkBurst, this, grant);
    }
    m_downlinkSymbolsUsed += downlink.symbols;
    m_uplinkSymbolsUsed += uplink.symbols;
    ++m_frame;
    ns3::Simulator::Schedule(m_firstFrame + m_layout.Duration() * m_frame - now, &Cell::BeginFrame, this);
}

void Cell::ArriveAtBase(const std::shared_ptr<Sdu>& sdu)
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

void Cell::ArriveAtSubscriber(const std::shared_ptr<Sdu>& sdu, std::size_t receiver)
{
    const auto station = sdu->receivers[receiver];
    if (!m_subscribers[m_indices[station]]->Entry().IsOperational())
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

ns3::Time Cell::Propagation(StationId subscriber) const
{
    return ns3::Seconds(m_radios[m_indices[subscriber]].distanceM / SPEED_OF_LIGHT);
}

} // namespace netboxit::wimax
