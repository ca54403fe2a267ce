// SPDX-License-Identifier: GPL-2.0-or-later
#include "plan.h"

#include <algorithm>
#include <stdexcept>

namespace netboxit
{

namespace
{

template <typename T>
T Or(const Json& value, T otherwise)
{
    return value.is_null() ? otherwise : value.get<T>();
}

/// A position on the ground, with the height at which the antenna is above it.
Json Raised(Json position, double height)
{
    position.at(2) = position.at(2).get<double>() + height;
    return position;
}

Json RaisedPlace(const Json& station, double height)
{
    Json place = Json::object();
    if (!station.at("position").is_null())
    {
        place["position"] = Raised(station.at("position"), height);
    }
    if (!station.at("path").is_null())
    {
        place["path"] = station.at("path");
        for (auto& waypoint : place["path"])
        {
            waypoint["position"] = Raised(waypoint["position"], height);
        }
    }
    if (!station.at("wander").is_null())
    {
        place["wander"] = station.at("wander");
        for (auto& corner : place["wander"]["area"])
        {
            corner = Raised(corner, height);
        }
    }
    return place;
}

/// What links lose besides, of all of them or of one station.
Attenuation::Loss LossOf(const Json& said)
{
    Attenuation::Loss loss;
    loss.fade = Or(said.at("fade"), 0.0);
    if (!said.at("fade_series").is_null())
    {
        loss.series.emplace(said.at("fade_series"), Timeline::Between::Line);
    }
    return loss;
}

/// `outage` is true for all eNodeBs, or lists some.
bool IsOff(const Json& enodeb, const Json& outage)
{
    return outage == true || (outage.is_array() && std::ranges::find(outage, enodeb) != outage.end());
}

std::vector<BearerPlan> BearersOf(const std::string& station,
                                  const Json& bearers,
                                  const std::vector<std::string>& classNames)
{
    std::vector<BearerPlan> plans;
    for (const auto& bearer : bearers)
    {
        const auto& only = bearer.at("stations");
        if (!only.is_null() && std::ranges::find(only, Json(station)) == only.end())
        {
            continue;
        }
        const auto found = std::ranges::find(classNames, bearer.at("class").get<std::string>());
        if (found == classNames.end())
        {
            throw std::invalid_argument("lte: a bearer is for class " + bearer.at("class").dump() +
                                        ", which the netbox does not declare");
        }
        const double uplink = Or(bearer.at("uplink_rate"), 0.0);
        const double downlink = Or(bearer.at("downlink_rate"), 0.0);
        plans.push_back({.trafficClass = static_cast<ClassId>(found - classNames.begin()),
                         .className = *found,
                         .qci = bearer.at("qci"),
                         .uplinkRate = uplink,
                         .downlinkRate = downlink,
                         .uplinkMaximum = Or(bearer.at("uplink_maximum"), 0.0),
                         .downlinkMaximum = Or(bearer.at("downlink_maximum"), 0.0),
                         .arp = bearer.at("arp")});
    }
    return plans;
}

} // namespace

LtePlan::LtePlan(const Json& parameters,
                 const std::vector<std::string>& stationNames,
                 const std::vector<std::string>& classNames)
    : resourceBlocks(parameters.at("resource_blocks")), downlinkEarfcn(parameters.at("earfcn")),
      uplinkEarfcn(downlinkEarfcn + 18000), scheduler(parameters.at("scheduler")),
      upholdGuarantees(parameters.at("uphold_guarantees")), harq(parameters.at("harq")),
      transmissionMode(parameters.at("transmission_mode")), adaptation(parameters.at("adaptation")), rlc(parameters.at("rlc")),
      queue(parameters.at("queue")), antennaGain(parameters.at("antenna_gain")),
      terminalGain(parameters.at("ue_antenna_gain")), noiseFigure(parameters.at("noise_figure")),
      terminalNoiseFigure(parameters.at("ue_noise_figure")), enodebHeight(parameters.at("enodeb_height")),
      terminalHeight(parameters.at("ue_height")), uplinkPowerControl(parameters.at("uplink_power_control")),
      propagation(parameters.at("propagation")), pathLossExponent(parameters.at("path_loss_exponent")),
      environment(parameters.at("environment")), fading(parameters.at("fading")),
      doppler(parameters.at("doppler")), loss(LossOf(parameters)), handover(parameters.at("handover")),
      handoverHysteresis(parameters.at("handover_hysteresis")), timeToTrigger(parameters.at("time_to_trigger")),
      coreDelay(parameters.at("core_delay")), x2Delay(parameters.at("x2_delay"))
{
    for (const auto& enodeb : parameters.at("enodebs"))
    {
        enodebs.push_back({.name = enodeb.at("name"),
                           .position = Raised(enodeb.at("position"), enodebHeight),
                           .txPower = Or(enodeb.at("tx_power"), parameters.at("tx_power").get<double>()),
                           .ownTxPower = !enodeb.at("tx_power").is_null(),
                           .isOff = IsOff(enodeb.at("name"), parameters.at("outage"))});
    }
    if (enodebs.empty())
    {
        throw std::invalid_argument("lte: enodebs: there is none");
    }
    // ns-3 takes all modes of TS 36.213, and fails later with those that it has no errors of.
    if (transmissionMode < 0 || transmissionMode > 2)
    {
        throw std::invalid_argument("lte: transmission_mode: " + std::to_string(transmissionMode) + " is none of 0, 1 and 2");
    }
    for (const auto& name : stationNames)
    {
        const auto& station = parameters.at("stations").at(name);
        if (station.at("role") == "gateway")
        {
            gateway = static_cast<StationId>(stations.size());
            stations.emplace_back().gateway = true;
            continue;
        }
        stations.push_back({.place = RaisedPlace(station, terminalHeight),
                            .distance = Or(station.at("distance"), parameters.at("distance").get<double>()),
                            .txPower = Or(station.at("tx_power"), parameters.at("ue_tx_power").get<double>()),
                            .ownDistance = !station.at("distance").is_null(),
                            .ownTxPower = !station.at("tx_power").is_null(),
                            .loss = LossOf(station),
                            .bearers = BearersOf(name, parameters.at("bearers"), classNames)});
        stations.back().loss.isOff = station.at("outage");
    }
}

} // namespace netboxit
