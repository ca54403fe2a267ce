// SPDX-License-Identifier: GPL-2.0-or-later
#include "../engine/live_number.h"

#include "carrier.h"
#include "waveforms.h"

#include "ns3/random-variable-stream.h"
#include "ns3/simulator.h"

#include <array>
#include <map>

namespace netboxit
{

namespace
{

/// EN 302 307-1, 5.1.6: length of the BBHEADER.
constexpr std::uint32_t BBHEADER_BITS = 80;
/// Random streams: one a station, for what it sends.
constexpr std::int64_t FIRST_STREAM = 2000;

/// By how much the link may run ahead of the clock, ns: a five-thousandth of a geostationary hop, and longer than what other netboxes of
/// a shared core may keep it waiting, mostly.
constexpr std::int64_t LEAD = 50'000;

/// The limits are those of parameters.py.
constexpr std::array LIVE_NUMBERS{
    LiveNumber{"delay", 0.0, 5.0, "s"},
    LiveNumber{"return_rate", 1e3, 1e9, "bit/s"},
    LiveNumber{"forward_rate", 1e3, 1e9, "bit/s"},
    LiveNumber{"packet_error_rate", 0.0, 1.0, ""},
};

} // namespace

/// A geostationary satellite link between a gateway and its terminals: each sends on a carrier of its own.
class SatelliteSegment : public Segment
{
  public:
    explicit SatelliteSegment(const SegmentSetup& setup);

    void Transmit(StationId from, Destination to, const Frame& frame) override;
    void Set(std::string_view parameter, const Json& value) override;
    Json Read() const override;

    std::int64_t Lead() const override
    {
        return LEAD;
    }

  private:
    struct Station
    {
        std::string name;
        std::unique_ptr<Carrier> carrier;
        ns3::Ptr<ns3::UniformRandomVariable> errors;
        std::map<Loss, std::uint64_t> lost;
    };

    std::unique_ptr<Carrier> MakeCarrier(StationId sender, const Json& parameters, std::size_t classes);
    /// Queues a packet at `sender`, which is its origin, or the gateway that relays it.
    void Send(StationId sender, const Packet& packet);
    void Depart(StationId sender, const Packet& packet, ns3::Time sent);
    void Arrive(StationId sender, const Packet& packet);
    /// A terminal's packet at the hub of a star.
    void ArriveAtHub(StationId terminal, const Packet& packet);
    void ArriveAt(StationId receiver, StationId sender, const Packet& packet);
    bool IsCorrupted(StationId sender);
    void LoseOne(StationId sender, const Packet& packet, StationId receiver, Loss reason);
    /// The packet will reach none of its destinations that it has not reached yet.
    void Lose(StationId sender, const Packet& packet, Loss reason);

    Fates& m_fates;
    StationId m_gateway{};
    bool m_mesh;
    double m_delay;
    double m_packetErrorRate;
    bool m_outage;
    std::vector<Station> m_stations;
};

SatelliteSegment::SatelliteSegment(const SegmentSetup& setup)
    : m_fates(setup.fates), m_mesh(setup.parameters.at("connectivity") == "mesh"),
      m_delay(setup.parameters.at("delay")), m_packetErrorRate(setup.parameters.at("packet_error_rate")),
      m_outage(setup.parameters.at("outage"))
{
    for (StationId id = 0; id < setup.stations.size(); ++id)
    {
        if (setup.parameters.at("stations").at(setup.stations[id]).at("role") == "gateway")
        {
            m_gateway = id;
        }
    }
    for (StationId id = 0; id < setup.stations.size(); ++id)
    {
        auto errors = ns3::CreateObject<ns3::UniformRandomVariable>();
        errors->SetStream(FIRST_STREAM + id);
        m_stations.push_back({.name = setup.stations[id],
                              .carrier = MakeCarrier(id, setup.parameters, setup.classes.size()),
                              .errors = errors,
                              .lost = {}});
    }
}

std::unique_ptr<Carrier> SatelliteSegment::MakeCarrier(StationId sender,
                                                       const Json& parameters,
                                                       std::size_t classes)
{
    const bool forward = sender == m_gateway;
    const auto bbframe = BbframeBits(parameters.at("forward_frame"), parameters.at("forward_code_rate"));
    const auto burst = BurstPayload(parameters.at("return_waveform"));
    const auto bits = forward ? bbframe : 8 * burst;
    const auto payload = forward ? (bbframe - BBHEADER_BITS) / 8 : burst;
    const double rate = parameters.at(forward ? "forward_rate" : "return_rate");
    return std::make_unique<Carrier>(std::make_unique<ConstantCapacity>(bits, rate),
                                     forward ? GSE : RLE,
                                     payload,
                                     TransmitQueue(classes, parameters.at("priority")),
                                     parameters.at("queue_time"),
                                     [this, sender](const Packet& packet, ns3::Time sent)
                                     { Depart(sender, packet, sent); });
}

void SatelliteSegment::Transmit(StationId from, Destination to, const Frame& frame)
{
    Send(from, {.frame = frame, .from = from, .to = to});
}

void SatelliteSegment::Send(StationId sender, const Packet& packet)
{
    auto& carrier = *m_stations.at(sender).carrier;
    if (!carrier.Carries(packet.frame))
    {
        Lose(sender, packet, Loss::Unsupported);
    }
    else if (m_outage)
    {
        Lose(sender, packet, Loss::Outage);
    }
    else if (!carrier.Enqueue(packet))
    {
        Lose(sender, packet, Loss::QueueFull);
    }
}

void SatelliteSegment::Depart(StationId sender, const Packet& packet, ns3::Time sent)
{
    if (m_outage)
    {
        Lose(sender, packet, Loss::Outage);
        return;
    }
    const auto arrival = sent + ns3::Seconds(m_delay);
    ns3::Simulator::Schedule(
        arrival - ns3::Simulator::Now(), &SatelliteSegment::Arrive, this, sender, packet);
}

void SatelliteSegment::Arrive(StationId sender, const Packet& packet)
{
    if (m_outage)
    {
        Lose(sender, packet, Loss::Outage);
    }
    else if (sender != m_gateway && !m_mesh)
    {
        ArriveAtHub(sender, packet);
    }
    else if (packet.to.station)
    {
        ArriveAt(*packet.to.station, sender, packet);
    }
    else
    {
        for (StationId receiver = 0; receiver < m_stations.size(); ++receiver)
        {
            if (receiver != sender && receiver != packet.from)
            {
                ArriveAt(receiver, sender, packet);
            }
        }
    }
}

void SatelliteSegment::ArriveAtHub(StationId terminal, const Packet& packet)
{
    if (IsCorrupted(terminal))
    {
        Lose(terminal, packet, Loss::OnAir);
        return;
    }
    if (packet.to.IsEveryone() || *packet.to.station == m_gateway)
    {
        m_fates.Deliver(packet.frame.slot, m_gateway);
    }
    const bool hasOtherTerminals = m_stations.size() > 2;
    if ((packet.to.IsEveryone() && hasOtherTerminals) ||
        (packet.to.station && *packet.to.station != m_gateway))
    {
        Send(m_gateway, packet);
    }
}

void SatelliteSegment::ArriveAt(StationId receiver, StationId sender, const Packet& packet)
{
    if (IsCorrupted(sender))
    {
        LoseOne(sender, packet, receiver, Loss::OnAir);
    }
    else
    {
        m_fates.Deliver(packet.frame.slot, receiver);
    }
}

bool SatelliteSegment::IsCorrupted(StationId sender)
{
    return m_stations[sender].errors->GetValue() < m_packetErrorRate;
}

void SatelliteSegment::LoseOne(StationId sender, const Packet& packet, StationId receiver, Loss reason)
{
    ++m_stations[sender].lost[reason];
    m_fates.Lose(packet.frame.slot, receiver, reason);
}

void SatelliteSegment::Lose(StationId sender, const Packet& packet, Loss reason)
{
    if (packet.to.station)
    {
        LoseOne(sender, packet, *packet.to.station, reason);
        return;
    }
    ++m_stations[sender].lost[reason];
    m_fates.LoseAll(packet.frame.slot, reason);
}

void SatelliteSegment::Set(std::string_view parameter, const Json& value)
{
    if (parameter == "outage")
    {
        if (!value.is_boolean())
        {
            throw OutOfRange("satellite: outage cannot be " + value.dump() + "; it is true or false");
        }
        m_outage = value;
        return;
    }
    const double number = CheckLive("satellite", LIVE_NUMBERS, parameter, value, "outage");
    if (parameter == "delay")
    {
        m_delay = number;
    }
    else if (parameter == "packet_error_rate")
    {
        m_packetErrorRate = number;
    }
    else
    {
        for (StationId id = 0; id < m_stations.size(); ++id)
        {
            if ((id == m_gateway) == (parameter == "forward_rate"))
            {
                m_stations[id].carrier->SetRate(number);
            }
        }
    }
}

Json SatelliteSegment::Read() const
{
    Json stations = Json::object();
    for (const auto& station : m_stations)
    {
        Json lost = Json::object();
        for (const auto& [reason, count] : station.lost)
        {
            lost[std::string(NameOf(reason))] = count;
        }
        stations[station.name] = {{"queued", station.carrier->Queue().Packets()},
                                  {"queued_bytes", station.carrier->Queue().Bytes()},
                                  {"utilisation", station.carrier->Utilisation()},
                                  {"lost", lost}};
    }
    return {{"stations", stations}};
}

std::unique_ptr<Segment> MakeSegment(const SegmentSetup& setup)
{
    return std::make_unique<SatelliteSegment>(setup);
}

} // namespace netboxit
