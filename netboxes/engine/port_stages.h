// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "configuration.h"

#include "chain.h"

namespace netboxit
{

/// The stages between the ports and the segment (netboxes/stages): a chain for each station, which most have empty.
class PortStages
{
  public:
    /// Takes what happens at a station (stages::Chain::Announce).
    using Announce = std::function<void(StationId station, std::string_view event, const Json& details)>;

    /// Throws BadConfiguration.
    PortStages(const Configuration& configuration, const Announce& announce);

    bool Has(StationId station) const
    {
        return !m_ports[station].chain.IsEmpty();
    }

    /// The frame has come in at the port of a station that has stages: false where they drop it.
    bool Entering(StationId station, std::span<std::uint8_t> frame, const Headers& headers, std::int64_t now)
    {
        return m_ports[station].chain.Entering(frame, headers, now);
    }

    /// The frame is about to leave at the port of a station that has stages: false where they drop it.
    bool Leaving(StationId station, std::span<std::uint8_t> frame, std::int64_t now)
    {
        return m_ports[station].chain.Leaving(frame, ReadHeaders(frame), now);
    }

    /// Gives a station these stages (netbox.json, "stages"). Those of the same kind at the same place keep what they know of packets. Throws
    /// OutOfRange, and then changes nothing.
    void Set(StationId station, const Json& stages, std::int64_t now);

    /// Some stage's rate is that of the link (`rate` null).
    bool FollowLinks() const;
    /// What a station's link carries now, bit/s. Stages that follow it have it from now on.
    void SetLinkRate(StationId station, double rate, std::int64_t now);

    /// {station: list of statistics}, of stations that have stages.
    Json Read(std::int64_t now) const;
    /// Puts it into the statistics of stations, {station: {…}}, as stages::Chain::AddTo.
    void AddTo(Json& stations, std::int64_t now) const;

  private:
    /// Before the segment has said what a link carries: a rate that holds nothing back.
    static constexpr double UNKNOWN = 100e9;

    struct Port
    {
        stages::Chain chain;
        Json said = Json::array(); ///< what it was told, with null for rates of the link
        double linkRate{UNKNOWN};  ///< bit/s
    };

    std::vector<std::string> m_stations;
    std::vector<Port> m_ports; ///< by station
};

} // namespace netboxit
