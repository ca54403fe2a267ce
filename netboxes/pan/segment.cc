// SPDX-License-Identifier: GPL-2.0-or-later
#include "../engine/station_parameter.h"
#include "../mobility/motion.h"

#include "station.h"

#include "ns3/simulator.h"

namespace netboxit
{

namespace
{

/// How often it is looked whether a moving station is still within reach.
const ns3::Time LOOK = ns3::MilliSeconds(500);

} // namespace

/// A personal area network on ns-3's IEEE 802.15.4, star or peer to peer.
class PanSegment : public Segment
{
  public:
    explicit PanSegment(const SegmentSetup& setup);

    void Transmit(StationId from, Destination to, const Frame& frame) override;
    void Set(std::string_view parameter, const Json& value) override;
    Json Read() const override;
    void Begin() override;
    std::vector<Unlinked> WithoutLink() const override;

    void Reset() override
    {
        for (auto& station : m_stations)
        {
            station->Reset();
        }
    }

  private:
    /// Where a datagram goes next from `at`.
    std::optional<StationId> NextHop(StationId at, const Datagram& datagram) const;
    void Send(StationId at, const Datagram& datagram);
    void Arrived(StationId at, const Datagram& datagram);
    void HopEnded(StationId sender,
                  const Datagram& datagram,
                  std::optional<StationId> hop,
                  std::uint16_t number,
                  HopEnd end);
    /// Of a datagram that ends at `at`: for its destination, or all that have not got it.
    void Lose(StationId at, const Datagram& datagram, Loss reason);
    /// A station of a star is within reach when its coordinator is, a peer when any other one is.
    bool IsReachable(StationId station, bool faded = true) const;
    std::string_view WhyDown(StationId station) const;
    void LookAtLinks();
    void LookAgain();

    std::vector<std::string> m_names;
    Fates& m_fates;
    Announcements& m_announcements;
    Radio m_radio;
    std::optional<StationId> m_coordinator;
    StationEvents m_events;
    std::vector<std::unique_ptr<Station>> m_stations;
    std::vector<bool> m_up;
    ns3::EventId m_look;
};

PanSegment::PanSegment(const SegmentSetup& setup)
    : m_names(setup.stations), m_fates(setup.fates), m_announcements(setup.announcements),
      m_radio(setup.parameters, setup.stations),
      m_events{.arrived = [this](StationId at, const Datagram& datagram) { Arrived(at, datagram); },
               .dropped = [this](auto... what) { Lose(what...); },
               .ended = [this](auto... what) { HopEnded(what...); }},
      m_up(setup.stations.size(), true)
{
    for (StationId id = 0; id < m_names.size(); ++id)
    {
        if (setup.parameters.at("stations").at(m_names[id]).at("role") == "coordinator")
        {
            m_coordinator = id;
        }
        m_stations.push_back(std::make_unique<Station>(id, setup, m_radio, m_events));
    }
    m_look = ns3::Simulator::ScheduleNow(&PanSegment::LookAgain, this);
}

void PanSegment::Transmit(StationId from, Destination to, const Frame& frame)
{
    const Datagram datagram{frame.slot, static_cast<std::uint16_t>(frame.length), from, to.station, frame.trafficClass};
    if (frame.length > Fragmentation::LONGEST_PACKET)
    {
        Lose(from, datagram, Loss::Unsupported);
    }
    else if (m_radio.IsOff(from))
    {
        Lose(from, datagram, Loss::Outage);
    }
    else
    {
        Send(from, datagram);
    }
}

std::optional<StationId> PanSegment::NextHop(StationId at, const Datagram& datagram) const
{
    return m_coordinator && at != *m_coordinator ? m_coordinator : datagram.destination;
}

void PanSegment::Send(StationId at, const Datagram& datagram)
{
    m_stations[at]->Send(datagram, NextHop(at, datagram));
}

void PanSegment::Arrived(StationId at, const Datagram& datagram)
{
    if (at == datagram.origin)
    {
        return; // its own broadcast, from the coordinator
    }
    if (!datagram.destination || *datagram.destination == at)
    {
        m_fates.Deliver(datagram.slot, at);
    }
    const bool forOthers = datagram.destination ? *datagram.destination != at : m_names.size() > 2;
    if (at == m_coordinator && forOthers)
    {
        Send(at, datagram);
    }
}

void PanSegment::HopEnded(StationId sender,
                          const Datagram& datagram,
                          std::optional<StationId> hop,
                          std::uint16_t number,
                          HopEnd end)
{
    const auto reasonAt = [&](StationId receiver)
    {
        return !m_radio.Reach(sender, receiver)                          ? Loss::Outage
               : m_stations[receiver]->HasTimedOut(sender, number) ? Loss::QueueExpired
               : end == HopEnd::Sent                                     ? Loss::OnAir
                                                                         : Loss::RetryLimit;
    };
    if (hop)
    {
        if (!m_stations[*hop]->HasCompleted(sender, number))
        {
            Lose(sender, datagram, reasonAt(*hop));
        }
        return;
    }
    for (StationId receiver = 0; receiver < m_stations.size(); ++receiver)
    {
        // A device's broadcast has reached the coordinator before.
        if (receiver != sender && receiver != datagram.origin && !m_stations[receiver]->HasCompleted(sender, number))
        {
            const auto reason = reasonAt(receiver);
            m_stations[sender]->CountLoss(reason);
            m_fates.Lose(datagram.slot, receiver, reason);
        }
    }
}

void PanSegment::Lose(StationId at, const Datagram& datagram, Loss reason)
{
    m_stations[at]->CountLoss(reason);
    if (datagram.destination)
    {
        m_fates.Lose(datagram.slot, *datagram.destination, reason);
    }
    else
    {
        m_fates.LoseAll(datagram.slot, reason);
    }
}

void PanSegment::Begin()
{
    m_radio.Places().Begin();
    m_look.Cancel();
    LookAgain();
}

std::vector<Unlinked> PanSegment::WithoutLink() const
{
    std::vector<Unlinked> found;
    for (StationId id = 0; id < m_up.size(); ++id)
    {
        if (!m_up[id])
        {
            found.push_back({id, {{"reason", WhyDown(id)}}});
        }
    }
    return found;
}

void PanSegment::LookAgain()
{
    LookAtLinks();
    if (m_radio.Places().Moves())
    {
        m_look = ns3::Simulator::Schedule(LOOK, &PanSegment::LookAgain, this);
    }
}

bool PanSegment::IsReachable(StationId station, bool faded) const
{
    if (m_coordinator)
    {
        return station == *m_coordinator ? !m_radio.IsOff(station) : m_radio.Reach(station, *m_coordinator, faded);
    }
    for (StationId other = 0; other < m_stations.size(); ++other)
    {
        if (other != station && m_radio.Reach(station, other, faded))
        {
            return true;
        }
    }
    return false;
}

std::string_view PanSegment::WhyDown(StationId station) const
{
    return m_radio.IsOff(station) ? "outage" : IsReachable(station, false) ? "faded" : "out of range";
}

void PanSegment::LookAtLinks()
{
    for (StationId id = 0; id < m_stations.size(); ++id)
    {
        const bool up = IsReachable(id);
        if (up == m_up[id])
        {
            continue;
        }
        m_up[id] = up;
        if (up)
        {
            m_announcements.Announce("link_up", id);
        }
        else
        {
            m_announcements.Announce("link_down", id, {{"reason", WhyDown(id)}});
        }
    }
}

void PanSegment::Set(std::string_view name, const Json& value)
{
    const auto [station, parameter] = TargetOf(name, m_names);
    if (parameter == "outage")
    {
        m_radio.SetOutage(station, value);
    }
    else if (!station && parameter == "queue")
    {
        for (auto& each : m_stations)
        {
            each->SetQueue(value);
        }
    }
    else if (station && parameter == "position")
    {
        m_radio.Places().SetPosition(*station, VectorOf(value));
    }
    else
    {
        const double number = value;
        if (parameter == "tx_power")
        {
            m_radio.SetTxPower(station, number);
        }
        else if (parameter == "fade")
        {
            m_radio.SetFade(station, number);
        }
        else if (m_coordinator && station == m_coordinator)
        {
            throw OutOfRange("pan: " + m_names[*station] + " is the coordinator, from which distances are measured");
        }
        else
        {
            m_radio.Places().SetDistance(station, number);
        }
    }
    LookAtLinks();
}

Json PanSegment::Read() const
{
    Json stations = Json::object();
    for (StationId id = 0; id < m_stations.size(); ++id)
    {
        auto& counters = stations[m_names[id]];
        counters = m_stations[id]->Read();
        counters["link"] = static_cast<bool>(m_up[id]);
    }
    return {{"stations", stations}};
}

std::unique_ptr<Segment> MakeSegment(const SegmentSetup& setup)
{
    return std::make_unique<PanSegment>(setup);
}

} // namespace netboxit
