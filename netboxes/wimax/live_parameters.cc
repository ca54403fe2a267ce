// SPDX-License-Identifier: GPL-2.0-or-later
#include "live_parameters.h"

#include <map>
#include <sstream>

namespace netboxit::wimax
{

namespace
{

void SetOfCell(Configuration& configuration, std::string_view parameter, double number)
{
    const std::map<std::string_view, double*> fields{
        {"distance", &configuration.distanceM},
        {"tx_power", &configuration.txPowerDbm},
        {"fade", &configuration.fadeDb},
        {"frequency", &configuration.radio.frequencyHz},
        {"noise_figure", &configuration.radio.noiseFigureDb},
        {"implementation_loss", &configuration.radio.implementationLossDb},
        {"path_loss_exponent", &configuration.radio.pathLossExponent}};
    *fields.at(parameter) = number;
}

void SetOfStation(Configuration& configuration, Places& places, const LiveTarget& target, const Json& value)
{
    const auto id = *target.station;
    if (target.parameter == "position")
    {
        places.Set(id, value);
        return;
    }
    auto& station = configuration.stations[id];
    const double number = value;
    if (station.base && target.parameter != "tx_power")
    {
        throw UnknownParameter("wimax: " + station.name + " is the base station, of which tx_power and position can be changed");
    }
    if (target.parameter == "distance")
    {
        places.Forget(id);
        station.distanceM = number;
    }
    else if (target.parameter == "tx_power")
    {
        station.txPowerDbm = number;
    }
    else
    {
        station.fadeDb = number;
    }
}

} // namespace

void SetLive(Configuration& configuration, Places& places, const LiveTarget& target, const Json& value)
{
    if (target.station)
    {
        SetOfStation(configuration, places, target, value);
    }
    else
    {
        SetOfCell(configuration, target.parameter, value);
    }
    CheckReach(configuration, places);
}

void CheckReach(const Configuration& configuration, const Places& places)
{
    for (StationId id = 0; id < configuration.stations.size(); ++id)
    {
        const auto& station = configuration.stations[id];
        const double distance = configuration.DistanceM(station);
        if (!station.base && !places.IsOwn(id) && 2.0 * distance / SPEED_OF_LIGHT > configuration.frame.ttgS)
        {
            std::ostringstream message;
            message << "wimax: station '" << station.name << "' is " << distance / 1e3
                    << " km away, and its round trip does not fit into ttg = "
                    << configuration.frame.ttgS * 1e6 << " us; raise ttg to at least "
                    << 2e6 * distance / SPEED_OF_LIGHT << " us";
            throw OutOfRange(message.str());
        }
    }
}

} // namespace netboxit::wimax
