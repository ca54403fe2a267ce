// SPDX-License-Identifier: GPL-2.0-or-later
#include "live_parameters.h"

#include "../engine/live_number.h"

#include <array>
#include <sstream>

namespace netboxit::wimax
{

namespace
{

/// The same limits as in parameters.py.
constexpr LiveNumber DISTANCE{"distance", 1.0, 50e3, "m"};
constexpr LiveNumber TX_POWER{"tx_power", -30.0, 60.0, "dBm"};
constexpr LiveNumber FADE{"fade", 0.0, 100.0, "dB"};

constexpr std::array OF_CELL{DISTANCE,
                             TX_POWER,
                             FADE,
                             LiveNumber{"frequency", 2e9, 11e9, "Hz"},
                             LiveNumber{"noise_figure", 0.0, 20.0, "dB"},
                             LiveNumber{"implementation_loss", 0.0, 20.0, "dB"},
                             LiveNumber{"path_loss_exponent", 1.0, 6.0, ""}};
constexpr std::array OF_SUBSCRIBER{DISTANCE, TX_POWER, FADE};
constexpr std::array OF_BASE{TX_POWER};

void SetOfCell(Configuration& configuration, std::string_view parameter, const Json& value)
{
    const double number = CheckLive("wimax", OF_CELL, parameter, value, "and of a station: position");
    const std::array fields{&configuration.distanceM,
                            &configuration.txPowerDbm,
                            &configuration.fadeDb,
                            &configuration.radio.frequencyHz,
                            &configuration.radio.noiseFigureDb,
                            &configuration.radio.implementationLossDb,
                            &configuration.radio.pathLossExponent};
    static_assert(std::tuple_size_v<decltype(fields)> == OF_CELL.size());
    const auto index = std::ranges::find(OF_CELL, parameter, &LiveNumber::name) - OF_CELL.begin();
    *fields[static_cast<std::size_t>(index)] = number;
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
    const auto known = station.base ? std::span<const LiveNumber>(OF_BASE) : std::span<const LiveNumber>(OF_SUBSCRIBER);
    const double number = CheckLive("wimax", known, target.parameter, value, "position");
    if (target.parameter == DISTANCE.name)
    {
        places.Forget(id);
        station.distanceM = number;
    }
    else if (target.parameter == TX_POWER.name)
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
