// SPDX-License-Identifier: GPL-2.0-or-later
#include "../engine/live_number.h"

#include "cell.h"
#include "station.h"

#include "ns3/wifi-phy.h"
#include "ns3/wifi-remote-station-manager.h"
#include "ns3/wifi-utils.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace netboxit
{

namespace
{

/// What can be changed while the cell runs; the limits are those of parameters.py.
constexpr std::array LIVE_NUMBERS{
    LiveNumber{"distance", 1.0, 100e3, "m"},
    LiveNumber{"tx_power", -20.0, 36.0, "dBm"},
};

/// Shorter than a DIFS (34 us), for which a frame that comes in has to wait anyway (IEEE 802.11-2020, 10.3.2.3).
constexpr std::int64_t LEAD = 30'000;

} // namespace

/// One infrastructure cell of ns-3's Wi-Fi.
class WifiSegment : public Segment
{
  public:
    explicit WifiSegment(const SegmentSetup& setup)
        : m_names(setup.stations), m_plan(setup.parameters, setup.stations)
    {
        const auto devices = BuildCell(m_plan);
        for (StationId id = 0; id < devices.size(); ++id)
        {
            m_stations.push_back(std::make_unique<Station>(
                id, m_plan.stations[id].accessPoint, devices[id], m_cell, setup.fates));
            m_cell.Add(*m_stations.back());
        }
    }

    void Transmit(StationId from, Destination to, const Frame& frame) override
    {
        m_stations.at(from)->Send(to, frame);
    }

    void Set(std::string_view parameter, const Json& value) override
    {
        const double checked = CheckLive("wifi", LIVE_NUMBERS, parameter, value);
        for (StationId id = 0; id < m_stations.size(); ++id)
        {
            auto& plan = m_plan.stations[id];
            const auto& device = m_stations[id]->Device();
            if (parameter == "distance" && !plan.ownDistance)
            {
                plan.distance = checked;
                Place(m_plan, id, device);
            }
            else if (parameter == "tx_power" && !plan.ownTxPower)
            {
                plan.txPower = checked;
                SetTxPower(device, checked);
            }
        }
    }

    Json Read() const override
    {
        Json stations = Json::object();
        for (const auto& station : m_stations)
        {
            auto& counters = stations[m_names[station->Id()]];
            counters = station->Read();
            if (!station->IsAccessPoint() && station->IsAssociated())
            {
                counters.update(Signal(*station));
            }
        }
        return {{"stations", stations}};
    }

    std::int64_t Lead() const override
    {
        return LEAD;
    }

    bool Ready() const override
    {
        return std::ranges::all_of(m_stations, [](const auto& station) { return station->IsAssociated(); });
    }

  private:
    /// How strong the access point's latest frame was at a station, and its ratio to thermal noise (-174
    /// dBm/Hz at 290 K) and noise figure.
    Json Signal(const Station& station) const
    {
        const auto accessPoint =
            std::ranges::find_if(m_stations, [](const auto& s) { return s->IsAccessPoint(); });
        const auto& device = station.Device();
        const auto signal = device->GetRemoteStationManager()->GetMostRecentRssi((*accessPoint)->Address());
        if (!signal)
        {
            return Json::object();
        }
        const double noise =
            -173.975 + 10.0 * std::log10(device->GetPhy()->GetChannelWidth() * 1e6) + m_plan.noiseFigure;
        return {{"signal", *signal}, {"snr", *signal - noise}};
    }

    std::vector<std::string> m_names;
    CellPlan m_plan;
    Stations m_cell;
    std::vector<std::unique_ptr<Station>> m_stations;
};

std::unique_ptr<Segment> MakeSegment(const SegmentSetup& setup)
{
    return std::make_unique<WifiSegment>(setup);
}

} // namespace netboxit
