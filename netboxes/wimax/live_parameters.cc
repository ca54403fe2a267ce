// SPDX-License-Identifier: GPL-2.0-or-later
#include "live_parameters.h"

#include <array>
#include <sstream>

namespace netboxit::wimax
{

namespace
{

struct Live
{
    std::string_view name;
    std::string_view unit;
    double minimum;
    double maximum;
    double& (*field)(Configuration&);
};

/// The same limits as in parameters.py.
constexpr std::array LIVE{
    Live{"distance", "m", 1.0, 50e3, [](Configuration& c) -> double& { return c.distanceM; }},
    Live{"tx_power", "dBm", -30.0, 60.0, [](Configuration& c) -> double& { return c.txPowerDbm; }},
    Live{"frequency", "Hz", 2e9, 11e9, [](Configuration& c) -> double& { return c.radio.frequencyHz; }},
    Live{"noise_figure", "dB", 0.0, 20.0, [](Configuration& c) -> double& { return c.radio.noiseFigureDb; }},
    Live{"implementation_loss",
         "dB",
         0.0,
         20.0,
         [](Configuration& c) -> double& { return c.radio.implementationLossDb; }},
    Live{"path_loss_exponent",
         "",
         1.0,
         6.0,
         [](Configuration& c) -> double& { return c.radio.pathLossExponent; }},
};

} // namespace

void SetLive(Configuration& configuration, std::string_view parameter, const Json& value)
{
    std::string known;
    for (const auto& live : LIVE)
    {
        known += (known.empty() ? "" : ", ") + std::string(live.name);
        if (live.name != parameter)
        {
            continue;
        }
        if (!value.is_number() || value.get<double>() < live.minimum || value.get<double>() > live.maximum)
        {
            std::ostringstream message;
            message << "wimax: " << parameter << " cannot be " << value.dump() << "; it takes a number from "
                    << live.minimum << " to " << live.maximum << ' ' << live.unit;
            throw OutOfRange(message.str());
        }
        live.field(configuration) = value.get<double>();
        CheckReach(configuration);
        return;
    }
    throw UnknownParameter("wimax: no live parameter '" + std::string(parameter) + "'; there are " + known);
}

void CheckReach(const Configuration& configuration)
{
    for (const auto& station : configuration.stations)
    {
        const double distance = configuration.DistanceM(station);
        if (!station.base && 2.0 * distance / SPEED_OF_LIGHT > configuration.frame.ttgS)
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
