// SPDX-License-Identifier: GPL-2.0-or-later
#include "../engine/live_number.h"

#include "link.h"

#include <array>
#include <cmath>
#include <memory>

namespace netboxit
{

namespace
{

// IEEE 802.3-2018, 3.1.1 and 4A.4.2, in bytes.
constexpr std::uint32_t PREAMBLE = 8; ///< with the start frame delimiter
constexpr std::uint32_t HEADER = 14;
constexpr std::uint32_t FRAME_CHECK_SEQUENCE = 4;
constexpr std::uint32_t SMALLEST_FRAME = 64;

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

/// A full-duplex Ethernet link between two stations.
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
        std::unique_ptr<Link> outgoing;
        std::uint64_t overflowed{0};
    };

    void SetNumber(std::string_view parameter, double value);

    Fates& m_fates;
    std::array<Station, 2> m_stations;
};

EthernetSegment::EthernetSegment(const SegmentSetup& setup) : m_fates(setup.fates)
{
    const std::size_t queue = setup.parameters.at("queue");
    for (StationId id = 0; id < m_stations.size(); ++id)
    {
        const StationId other = 1 - id;
        m_stations[id].name = setup.stations.at(id);
        m_stations[id].outgoing =
            std::make_unique<Link>(queue, [this, other](SlotId slot) { m_fates.Deliver(slot, other); });
    }
    for (const auto& live : LIVE_NUMBERS)
    {
        SetNumber(live.name, setup.parameters.at(live.name));
    }
}

void EthernetSegment::Transmit(StationId from, Destination, const Frame& frame)
{
    auto& station = m_stations[from];
    if (!station.outgoing->Send(frame.slot, BytesOnWire(frame)))
    {
        ++station.overflowed;
        m_fates.LoseAll(frame.slot, Loss::QueueFull);
    }
}

void EthernetSegment::Set(std::string_view parameter, const Json& value)
{
    SetNumber(parameter, CheckLive("ethernet", LIVE_NUMBERS, parameter, value));
}

void EthernetSegment::SetNumber(std::string_view parameter, double value)
{
    for (const auto& station : m_stations)
    {
        if (parameter == "rate")
        {
            station.outgoing->SetRate(static_cast<std::uint64_t>(std::llround(value)));
        }
        else
        {
            station.outgoing->SetDelay(std::llround(value * 1e9));
        }
    }
}

Json EthernetSegment::Read() const
{
    Json stations = Json::object();
    for (const auto& station : m_stations)
    {
        stations[station.name] = {{"queued", station.outgoing->Queued()},
                                  {"lost", {{NameOf(Loss::QueueFull), station.overflowed}}}};
    }
    return {{"stations", stations}};
}

std::unique_ptr<Segment> MakeSegment(const SegmentSetup& setup)
{
    return std::make_unique<EthernetSegment>(setup);
}

} // namespace netboxit
