// SPDX-License-Identifier: GPL-2.0-or-later
#include "cell.h"
#include "links.h"
#include "live_parameters.h"
#include "station.h"

#include "ns3/wifi-phy.h"
#include "ns3/wifi-remote-station-manager.h"
#include "ns3/wifi-utils.h"

#include <cmath>

namespace netboxit
{

namespace
{

/// Shorter than a DIFS, for which a frame that comes in has to wait anyway (IEEE 802.11-2020, 10.3.2.3): 34 us at
/// 5 GHz, 28 us with the short slots of 2.4 GHz.
constexpr std::int64_t LEAD = 30'000;
constexpr std::int64_t SHORT_LEAD = 25'000;

} // namespace

/// One cell of ns-3's Wi-Fi.
class WifiSegment : public Segment
{
  public:
    explicit WifiSegment(const SegmentSetup& setup)
        : m_names(setup.stations), m_plan(setup.parameters, setup.stations), m_cell(BuildCell(m_plan)),
          m_links(m_plan, m_cell, setup.announcements)
    {
        const StationSurroundings around{m_names, m_plan, m_cell, m_stations, m_links, setup.fates, setup.frames};
        for (StationId id = 0; id < m_names.size(); ++id)
        {
            m_owned.push_back(std::make_unique<Station>(id, around));
            m_stations.Add(*m_owned.back());
        }
    }

    void Transmit(StationId from, Destination to, const Frame& frame) override
    {
        m_owned.at(from)->Send(to, frame);
    }

    void Set(std::string_view parameter, const Json& value) override
    {
        if (parameter == "queue")
        {
            for (const auto& station : m_owned)
            {
                station->SetQueue(value);
            }
            return;
        }
        SetLive(m_plan, m_cell, m_names, parameter, value);
        m_links.Reconsider();
    }

    void Begin() override
    {
        for (const auto& motion : m_cell.motions)
        {
            motion->Begin();
        }
        m_links.Begin();
    }

    Json Read() const override
    {
        Json stations = Json::object();
        for (const auto& station : m_owned)
        {
            auto& counters = stations[m_names[station->Id()]];
            counters = station->Read();
            AddSignals(*station, counters);
        }
        return {{"stations", stations}};
    }

    void Reset() override
    {
        for (const auto& station : m_owned)
        {
            station->Reset();
        }
    }

    std::int64_t Lead() const override
    {
        return m_plan.band < 3e9 ? SHORT_LEAD : LEAD;
    }

    std::vector<Unlinked> WithoutLink() const override
    {
        return m_links.Missing();
    }

    bool Ready() const override
    {
        return m_links.HaveSettled();
    }

  private:
    /// How strong the latest frames of those were to whom a station has a link, and their ratio to thermal noise (-174
    /// dBm/Hz at 290 K) and noise figure. A station of an access point has just that one.
    void AddSignals(const Station& station, Json& counters) const
    {
        const auto id = station.Id();
        const double noise = -173.975 + 10.0 * std::log10(m_plan.channelWidth) + m_plan.noiseFigure;
        Json links = Json::object();
        for (StationId other = 0; other < m_names.size(); ++other)
        {
            if (other == id || !AreNeighbours(id, other))
            {
                continue;
            }
            const auto signal = station.Device()->GetRemoteStationManager()->GetMostRecentRssi(
                m_stations.At(other).Address());
            if (signal)
            {
                links[m_names[other]] = {{"signal", *signal}, {"snr", *signal - noise}};
            }
        }
        if (m_plan.mode == Mode::Infrastructure && !m_plan.stations[id].accessPoint && links.size() == 1)
        {
            counters.update(links.front());
        }
        counters["links"] = links;
    }

    bool AreNeighbours(StationId a, StationId b) const
    {
        switch (m_plan.mode)
        {
        case Mode::Mesh:
            return m_links.PeersOf(a).contains(b);
        case Mode::AdHoc:
            return m_links.IsBetween(a, b);
        case Mode::Infrastructure:
            return (m_plan.stations[a].accessPoint || m_plan.stations[b].accessPoint) && m_links.IsBetween(a, b);
        }
        return false;
    }

    std::vector<std::string> m_names;
    CellPlan m_plan;
    Cell m_cell;
    Links m_links;
    Stations m_stations;
    std::vector<std::unique_ptr<Station>> m_owned;
};

std::unique_ptr<Segment> MakeSegment(const SegmentSetup& setup)
{
    return std::make_unique<WifiSegment>(setup);
}

} // namespace netboxit
