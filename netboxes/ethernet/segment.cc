// SPDX-License-Identifier: GPL-2.0-or-later
#include "../engine/live_number.h"

#include "ns3/drop-tail-queue.h"
#include "ns3/node.h"
#include "ns3/point-to-point-channel.h"
#include "ns3/point-to-point-net-device.h"

#include <array>
#include <cmath>

namespace netboxit
{

namespace
{

// IEEE 802.3-2018, 3.1.1, 4.2.7, 4A.4.2, in bytes.
constexpr std::uint32_t PREAMBLE = 8; ///< with the start frame delimiter
constexpr std::uint32_t HEADER = 14;
constexpr std::uint32_t FRAME_CHECK_SEQUENCE = 4;
constexpr std::uint32_t SMALLEST_FRAME = 64;
constexpr std::uint32_t INTERFRAME_GAP = 12;

/// ns-3's device puts a PPP header in front of each packet, which takes its time on the wire.
constexpr std::uint32_t PPP_HEADER = 2;
/// Any protocol that this header knows: nobody reads it.
constexpr std::uint16_t PROTOCOL = 0x0800;

/// The limits are those of parameters.py.
constexpr std::array LIVE_NUMBERS{
    LiveNumber{"rate", 10e3, 10e9, "bit/s"},
    LiveNumber{"delay", 0.0, 10.0, "s"},
};

std::uint32_t BytesOnWire(const Frame& frame)
{
    return PREAMBLE + std::max(HEADER + frame.length + FRAME_CHECK_SEQUENCE, SMALLEST_FRAME);
}

} // namespace

/// A full-duplex Ethernet link: ns-3's point-to-point devices and channel, with Ethernet's lengths.
class EthernetSegment : public Segment
{
  public:
    explicit EthernetSegment(const SegmentSetup& setup);

    void Transmit(StationId from, Destination to, const Frame& frame) override;
    void Set(std::string_view parameter, const Json& value) override;
    Json Read() const override;

  private:
    struct Station
    {
        std::string name;
        ns3::Ptr<ns3::PointToPointNetDevice> device;
        ns3::Ptr<ns3::Queue<ns3::Packet>> queue;
        std::uint64_t overflowed{0};
    };

    Station MakeStation(StationId id, const std::string& name, std::uint32_t queue);
    void SetRate(double rate);
    void SetDelay(double delay);

    Fates& m_fates;
    ns3::Ptr<ns3::PointToPointChannel> m_channel{ns3::CreateObject<ns3::PointToPointChannel>()};
    std::vector<Station> m_stations;
};

EthernetSegment::EthernetSegment(const SegmentSetup& setup) : m_fates(setup.fates)
{
    for (StationId id = 0; id < setup.stations.size(); ++id)
    {
        m_stations.push_back(MakeStation(id, setup.stations[id], setup.parameters.at("queue")));
    }
    SetRate(setup.parameters.at("rate"));
    SetDelay(setup.parameters.at("delay"));
}

EthernetSegment::Station EthernetSegment::MakeStation(StationId id,
                                                      const std::string& name,
                                                      std::uint32_t queue)
{
    Station station{.name = name,
                    .device = ns3::CreateObject<ns3::PointToPointNetDevice>(),
                    .queue = ns3::CreateObject<ns3::DropTailQueue<ns3::Packet>>()};
    station.queue->SetMaxSize(ns3::QueueSize(ns3::QueueSizeUnit::PACKETS, queue));
    ns3::CreateObject<ns3::Node>()->AddDevice(station.device);
    station.device->SetQueue(station.queue);
    station.device->Attach(m_channel);
    station.device->SetReceiveCallback(
        [this, id](auto, ns3::Ptr<const ns3::Packet> packet, auto, const auto&)
        {
            m_fates.Deliver(ReadToken(packet).value(), id);
            return true;
        });
    return station;
}

void EthernetSegment::Transmit(StationId from, Destination, const Frame& frame)
{
    auto& station = m_stations[from];
    auto wired = frame;
    wired.length = BytesOnWire(frame) - PPP_HEADER;
    if (!station.device->Send(MakeToken(wired), {}, PROTOCOL))
    {
        ++station.overflowed;
        m_fates.LoseAll(frame.slot, Loss::QueueFull);
    }
}

void EthernetSegment::Set(std::string_view parameter, const Json& value)
{
    const double number = CheckLive("ethernet", LIVE_NUMBERS, parameter, value);
    parameter == "rate" ? SetRate(number) : SetDelay(number);
}

void EthernetSegment::SetRate(double rate)
{
    const ns3::DataRate bits(static_cast<std::uint64_t>(std::llround(rate)));
    for (const auto& station : m_stations)
    {
        station.device->SetDataRate(bits);
        station.device->SetInterframeGap(bits.CalculateBytesTxTime(INTERFRAME_GAP));
    }
}

void EthernetSegment::SetDelay(double delay)
{
    m_channel->SetAttribute("Delay", ns3::TimeValue(ns3::Seconds(delay)));
}

Json EthernetSegment::Read() const
{
    Json stations = Json::object();
    for (const auto& station : m_stations)
    {
        stations[station.name] = {{"queued", station.queue->GetNPackets()},
                                  {"lost", {{NameOf(Loss::QueueFull), station.overflowed}}}};
    }
    return {{"stations", stations}};
}

std::unique_ptr<Segment> MakeSegment(const SegmentSetup& setup)
{
    return std::make_unique<EthernetSegment>(setup);
}

} // namespace netboxit
