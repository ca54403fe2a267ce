// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../engine/segment.h"

#include "ns3/wifi-net-device.h"

#include <string>
#include <vector>

namespace netboxit
{

/// One station of a cell, as the topology describes it.
struct StationPlan
{
    bool accessPoint{};
    double distance{};  ///< m from the access point
    double txPower{};   ///< dBm
    bool ownDistance{}; ///< said of this station, so that the cell's live parameter leaves it alone
    bool ownTxPower{};
};

/// The parameters of one infrastructure cell; names and units are those of parameters.py.
struct CellPlan
{
    std::string standard;
    double band{};           ///< Hz: 2.4e9 or 5e9
    std::uint16_t channel{}; ///< 0: the first one of the band
    double channelWidth{};   ///< Hz
    std::string propagation;
    double pathLossExponent{};
    double antennaGain{};
    double noiseFigure{};
    double sensitivity{};
    std::string errorModel;
    std::string rateControl;
    double rate{}; ///< bit/s, for rate control `constant` with 802.11a and g
    int mcs{};     ///< for rate control `constant` with 802.11n and later
    bool qos{};
    std::uint32_t retryLimit{};
    std::uint32_t rtsThreshold{};
    std::uint32_t queueSize{};         ///< packets of one transmit queue
    double queueLifetime{};            ///< s
    std::vector<StationPlan> stations; ///< by StationId

    CellPlan(const Json& parameters, const std::vector<std::string>& stationNames);
};

/// Builds the cell's devices on one channel, by StationId, with their random streams assigned.
std::vector<ns3::Ptr<ns3::WifiNetDevice>> BuildCell(const CellPlan& plan);

/// Puts station `id` at its distance from the access point. Stations stand around it at equal angles, so two
/// of them opposite each other are twice that distance apart.
void Place(const CellPlan& plan, StationId id, const ns3::Ptr<ns3::WifiNetDevice>& device);

void SetTxPower(const ns3::Ptr<ns3::WifiNetDevice>& device, double dBm);

} // namespace netboxit
