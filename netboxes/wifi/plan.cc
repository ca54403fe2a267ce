// SPDX-License-Identifier: GPL-2.0-or-later
#include "plan.h"

#include "../engine/nature.h"
#include "motion.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace netboxit
{

namespace
{

/// In m: propagation takes less than a SIGNAL field, 4 us. ns-3 aborts when a hidden station's frame arrives
/// at the very end of another one's SIGNAL field (stations that hear the same access point from the same
/// distance are in step to the nanosecond) and was sent before that field began.
constexpr double LONGEST_RANGE = 1190.0;
/// A coverage class makes slots, and the wait for an acknowledgement, so much longer (IEEE 802.11-2020, 17.3.8.6).
constexpr double COVERAGE_STEP = 3e-6;
constexpr double SLOT = 9e-6;
/// HT and VHT: 2^(13 + exponent) - 1 octets with the largest exponent, 3 and 7 (IEEE 802.11-2020, 9.4.2.55.3 and
/// 9.4.2.157.2).
constexpr std::uint32_t LONGEST_HT_AMPDU = 65'535;
constexpr std::uint32_t LONGEST_VHT_AMPDU = 1'048'575;
/// HE at 5 GHz: the longest PSDU, which is less than 2^(20 + 3) - 1 octets. At 2.4 GHz, where there is no VHT, the
/// exponent's extension of 3 adds to HT's: 2^(16 + 3) - 1 (IEEE 802.11ax-2021, 9.4.2.248.2 and 27.4.4).
constexpr std::uint32_t LONGEST_HE_AMPDU = 6'500'631;
constexpr std::uint32_t LONGEST_HE_AMPDU_AT_2_4_GHZ = 524'287;

template <typename Value>
Value Or(const Json& said, Value otherwise)
{
    return said.is_null() ? otherwise : said.get<Value>();
}

ns3::Vector VectorOf(const Json& said)
{
    return {said.at(0), said.at(1), said.at(2)};
}

StationId IdOf(const std::vector<std::string>& names, const Json& name)
{
    return static_cast<StationId>(std::ranges::find(names, name.get<std::string>()) - names.begin());
}

PropagationPlan ReadPropagation(const Json& parameters, const std::vector<std::string>& stations)
{
    PropagationPlan plan{.model = parameters.at("propagation"),
                         .pathLossExponent = parameters.at("path_loss_exponent"),
                         .antennaHeight = parameters.at("antenna_height"),
                         .shadowing = parameters.at("shadowing"),
                         .fading = parameters.at("fading"),
                         .doppler = parameters.at("doppler"),
                         .fade = parameters.at("fade")};
    for (const auto& [distance, shape] : parameters.at("nakagami_m").get<std::vector<std::pair<double, double>>>())
    {
        plan.nakagami.emplace_back(distance, shape);
    }
    for (const auto& building : parameters.at("buildings"))
    {
        plan.buildings.push_back({.low = VectorOf(building.at("corners").at(0)),
                                  .high = VectorOf(building.at("corners").at(1)),
                                  .walls = building.at("walls"),
                                  .use = building.at("use"),
                                  .floors = building.at("floors")});
    }
    for (const auto& pair : parameters.at("hidden"))
    {
        plan.hidden.emplace_back(IdOf(stations, pair.at(0)), IdOf(stations, pair.at(1)));
    }
    return plan;
}

Mode ModeOf(const std::string& name)
{
    return name == "mesh" ? Mode::Mesh : name == "ad-hoc" ? Mode::AdHoc : Mode::Infrastructure;
}

} // namespace

CellPlan::CellPlan(const Json& parameters, const std::vector<std::string>& stationNames)
    : mode(ModeOf(parameters.at("mode"))), standard(parameters.at("standard")), band(parameters.at("band")),
      channel(Or<std::uint16_t>(parameters.at("channel"), 0)), channelWidth(parameters.at("channel_width")),
      propagation(ReadPropagation(parameters, stationNames)), noiseFigure(parameters.at("noise_figure")),
      sensitivity(parameters.at("sensitivity")), errorModel(parameters.at("error_model")),
      rateControl(parameters.at("rate_control")), rate(Or<double>(parameters.at("rate"), 0.0)),
      mcs(Or<int>(parameters.at("mcs"), 0)), shortPreamble(parameters.at("preamble") == "short"),
      coverageClass(parameters.at("coverage_class")), qos(parameters.at("qos")),
      retryLimit(parameters.at("retry_limit")), rtsThreshold(parameters.at("rts_threshold").get<double>()),
      queue(parameters.at("queue")), deviceQueue(parameters.at("device_queue")),
      msduLifetime(parameters.at("msdu_lifetime"))
{
    for (const auto& name : stationNames)
    {
        const auto& station = parameters.at("stations").at(name);
        stations.push_back({.accessPoint = station.at("role") == "access-point",
                            .distance = Or(station.at("distance"), Or(parameters.at("distance"), 0.0)),
                            .txPower = Or(station.at("tx_power"), parameters.at("tx_power").get<double>()),
                            .antennaGain = Or(station.at("antenna_gain"), parameters.at("antenna_gain").get<double>()),
                            .fade = station.at("fade"),
                            .ownPlace = !station.at("distance").is_null() || Motion::IsSaid(station),
                            .ownTxPower = !station.at("tx_power").is_null(),
                            .motion = station});
    }
}

std::uint32_t CellPlan::LongestAmpdu() const
{
    if (IsLegacy())
    {
        return 0;
    }
    if (standard == "802.11n")
    {
        return LONGEST_HT_AMPDU;
    }
    if (standard == "802.11ac")
    {
        return LONGEST_VHT_AMPDU;
    }
    return band < 3e9 ? LONGEST_HE_AMPDU_AT_2_4_GHZ : LONGEST_HE_AMPDU;
}

/// With a coverage class, which parameters.py gives to pairs only, no station is hidden from another: it ends
/// where acknowledgements come too late, two ways in a slot.
double CellPlan::LongestRange() const
{
    return coverageClass == 0 ? LONGEST_RANGE : 0.99 * SPEED_OF_LIGHT * (SLOT + coverageClass * COVERAGE_STEP) / 2;
}

/// Around the access point at equal angles, so that two of them opposite each other are twice their distance
/// apart; without one, on a line.
ns3::Vector CellPlan::PlaceOf(StationId id, const ns3::Vector& accessPoint) const
{
    const auto& station = stations[id];
    if (mode != Mode::Infrastructure)
    {
        return {station.distance * id, 0.0, 0.0};
    }
    const double radius = station.accessPoint ? 0.0 : station.distance;
    const double angle = 2.0 * std::numbers::pi * id / static_cast<double>(stations.size());
    return {accessPoint.x + radius * std::cos(angle), accessPoint.y + radius * std::sin(angle), accessPoint.z};
}

} // namespace netboxit
