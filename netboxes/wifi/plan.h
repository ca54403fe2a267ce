// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../engine/segment.h"

#include "ns3/vector.h"

#include <string>
#include <utility>
#include <vector>

namespace netboxit
{

/// How stations speak with each other.
enum class Mode
{
    Infrastructure, ///< through one access point
    AdHoc,          ///< each with each (IBSS)
    Mesh,           ///< through each other (802.11s)
};

/// One station of a cell, as the topology describes it.
struct StationPlan
{
    bool accessPoint{};
    double distance{};    ///< m from the access point; without one, from the neighbours on a line
    double txPower{};     ///< dBm
    double antennaGain{}; ///< dBi
    double fade{};        ///< dB that all its ways lose besides
    bool ownPlace{};      ///< said of this station, so that the cell's live distance leaves it alone
    bool ownTxPower{};
    Json motion;          ///< as netboxes/mobility has it
};

/// A box with walls.
struct BuildingPlan
{
    ns3::Vector low;
    ns3::Vector high;
    std::string walls;
    std::string use;
    std::uint16_t floors{};
};

/// Where signals go and what they lose on the way.
struct PropagationPlan
{
    std::string model;
    double pathLossExponent{};
    double antennaHeight{}; ///< m, added to each station's own height
    double shadowing{};     ///< dB, standard deviation
    std::string fading;     ///< none, nakagami or rayleigh
    std::vector<std::pair<double, double>> nakagami{}; ///< from this distance (m) on, this shape m; three at most
    double doppler{};                                ///< Hz
    double fade{};                                   ///< dB that all ways lose besides
    std::vector<BuildingPlan> buildings{};
    std::vector<std::pair<StationId, StationId>> hidden{}; ///< pairs that do not hear each other
};

/// The parameters of one cell; names and units are those of parameters.py.
struct CellPlan
{
    Mode mode{};
    std::string standard;
    double band{};           ///< Hz: 2.4e9 or 5e9
    std::uint16_t channel{}; ///< 0: the first one of the band
    double channelWidth{};   ///< Hz
    PropagationPlan propagation;
    double noiseFigure{};
    double sensitivity{};
    std::string errorModel;
    std::string rateControl;
    double rate{}; ///< bit/s, for rate control `constant` with 802.11a, b and g
    int mcs{};     ///< for rate control `constant` with 802.11n and later
    bool shortPreamble{};
    int coverageClass{};
    bool qos{};
    std::uint32_t retryLimit{};
    std::uint32_t rtsThreshold{};
    Json queue;                        ///< of each access category of each station, as netboxes/queueing has it
    std::uint32_t deviceQueue{};       ///< packets that the MAC holds below a queue
    double msduLifetime{};             ///< s, in the MAC
    std::vector<StationPlan> stations; ///< by StationId

    CellPlan(const Json& parameters, const std::vector<std::string>& stationNames);

    /// Of 802.11a, b and g, whose rates are numbers and which need no QoS.
    bool IsLegacy() const
    {
        return standard == "802.11a" || standard == "802.11b" || standard == "802.11g";
    }

    /// Octets of the longest A-MPDU that a receiver can grant; 0 for 802.11a, b and g, which have none.
    std::uint32_t LongestAmpdu() const;

    /// The farthest that stations hear each other, m, however strong: see plan.cc.
    double LongestRange() const;

    /// Where a station stands that says nothing of its place.
    ns3::Vector PlaceOf(StationId id, const ns3::Vector& accessPoint) const;
};

} // namespace netboxit
