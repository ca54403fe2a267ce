// SPDX-License-Identifier: GPL-2.0-or-later
#include "../engine/station_parameter.h"
#include "../mobility/motion.h"

#include "cell.h"

#include "ns3/simulator.h"

namespace netboxit
{

namespace
{

/// How often it is looked whether a moving station is still in service.
const ns3::Time LOOK = ns3::MilliSeconds(500);

} // namespace

/// A TETRA-like network: narrow-band, slotted, half duplex.
class PmrSegment : public Segment
{
  public:
    explicit PmrSegment(const SegmentSetup& setup)
        : m_names(setup.stations), m_radio(setup.parameters, setup.stations), m_cell(setup, m_radio)
    {
        m_look = ns3::Simulator::ScheduleNow(&PmrSegment::LookAgain, this);
    }

    void Transmit(StationId from, Destination to, const Frame& frame) override
    {
        m_cell.Transmit({.slot = frame.slot,
                         .length = frame.length,
                         .trafficClass = frame.trafficClass,
                         .from = from,
                         .to = to.station,
                         .queued = ns3::Simulator::Now().GetNanoSeconds()});
    }

    void Set(std::string_view parameter, const Json& value) override;

    Json Read() const override
    {
        return m_cell.Read();
    }

    /// SNDCP carries IP packets to one party, and has no address resolution (EN 300 392-2, clause 28).
    bool ProxiesNeighbours() const override
    {
        return true;
    }

    bool Connects(StationId from, StationId to) const override
    {
        return m_radio.Connected(from, to);
    }

    void Begin() override
    {
        m_radio.Places().Begin();
        m_look.Cancel();
        LookAgain();
    }

    std::vector<Unlinked> WithoutLink() const override
    {
        return m_cell.WithoutLink();
    }

    void Reset() override
    {
        m_cell.Reset();
    }

  private:
    void SetNumber(std::optional<StationId> station, std::string_view parameter, const Json& value);

    void LookAgain()
    {
        m_cell.LookAtLinks();
        if (m_radio.Places().Moves())
        {
            m_look = ns3::Simulator::Schedule(LOOK, &PmrSegment::LookAgain, this);
        }
    }

    std::vector<std::string> m_names;
    Radio m_radio;
    Cell m_cell;
    ns3::EventId m_look;
};

void PmrSegment::Set(std::string_view name, const Json& value)
{
    const auto [station, parameter] = TargetOf(name, m_names);
    if (parameter == "outage")
    {
        m_radio.SetOutage(station, value);
    }
    else if (station && parameter == "position")
    {
        m_radio.Places().SetPosition(*station, VectorOf(value));
    }
    else if (!station && parameter == "queue")
    {
        m_cell.SetQueue(value);
    }
    else
    {
        SetNumber(station, parameter, value);
    }
    m_cell.LookAtLinks();
}

void PmrSegment::SetNumber(std::optional<StationId> station, std::string_view parameter, const Json& value)
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
    else if (parameter == "call_setup_time")
    {
        m_cell.SetCallSetupTime(number);
    }
    else if (parameter == "hang_time")
    {
        m_cell.SetHangTime(number);
    }
    else if (parameter == "slots")
    {
        m_cell.SetSlots(static_cast<std::uint32_t>(number));
    }
    else if (station && station == m_radio.Base())
    {
        throw OutOfRange("pmr: " + m_names[*station] + " is the base, from which distances are measured");
    }
    else
    {
        m_radio.Places().SetDistance(station, number);
    }
}

std::unique_ptr<Segment> MakeSegment(const SegmentSetup& setup)
{
    return std::make_unique<PmrSegment>(setup);
}

} // namespace netboxit
