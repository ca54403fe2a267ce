// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "configuration.h"

#include <array>
#include <map>
#include <variant>

namespace netboxit
{

/// One end of a wire, by names: a station of a netbox, or an interface of a router.
struct WireEndName
{
    std::string node;
    std::string port;
};

/// A live parameter of a netbox is set.
struct ParameterChange
{
    std::string netbox;
    std::string parameter;
    Json value;
};

/// A handler of an element of a Click router is given a value.
struct HandlerWrite
{
    std::string router;
    std::string element;
    std::string handler;
    std::string value;
};

/// Another configuration takes over in a Click router.
struct ConfigurationChange
{
    std::string router;
    std::string text;
};

/// An interface of a Click router gets other stages.
struct StagesChange
{
    std::string router;
    std::string interface;
    Json stages; ///< a list
};

/// A wire is unplugged, or plugged in again.
struct WireChange
{
    std::size_t wire; ///< its number
    bool up;
};

/// A node loses its power, or gets it back and starts anew.
struct PowerChange
{
    std::string node;
    bool on;
};

using Change = std::variant<ParameterChange, HandlerWrite, ConfigurationChange, StagesChange, WireChange, PowerChange>;

struct NetworkEvent
{
    std::int64_t at{}; ///< ns, of the network's time or since its condition came true
    std::optional<std::size_t> condition;
    Change change;
};

/// What events wait for: one of what a netbox says, a station by which nothing leaves, and other events.
struct Condition
{
    std::string words; ///< for messages
    std::string netbox;
    std::string station; ///< empty: any
    std::string happens; ///< in the netbox's journal; empty: it waits for something else
    std::int64_t silent{}; ///< nothing has left by the station for so long, ns; 0: it waits for something else
    std::vector<std::size_t> after; ///< the events that are to be over
    std::optional<std::int64_t> within; ///< the run fails when it has not come true by then, ns of the network's time
};

/// A Click router.
struct RouterConfiguration
{
    std::string name;
    std::string configuration;                  ///< path of its Click file
    std::map<std::string, std::string> defines; ///< its variables; IAN_ETH has the Ethernet address of interface `ian`
    std::vector<std::string> interfaces;
    Json stages; ///< as click::ClickRouter takes them
    std::string statistics; ///< path, empty: none
    std::string journal;    ///< path, empty: none
};

/// What `network.json` says (netboxes/network/README.md).
struct NetworkConfiguration
{
    std::int64_t duration{}; ///< of the network's time, ns
    /// Simulated time at which the network's time begins, ns; nothing: `settle` after all netboxes are ready, at `patience` at the
    /// latest.
    std::optional<std::int64_t> start;
    std::int64_t settle{};
    std::int64_t patience{};
    std::int64_t epoch{}; ///< the simulation's time 0 as ns since 1970; where inputs say what time it is, of no meaning
    std::string times; ///< path of a file that has when the network's time began and ended; empty: none
    /// Somebody watches: the end of the standard input ends the run, and the standard output has the network's time.
    bool watched{};
    std::vector<Configuration> netboxes;
    std::vector<RouterConfiguration> routers;
    std::vector<std::array<WireEndName, 2>> wires;
    std::vector<NetworkEvent> events;
    std::vector<Condition> conditions;
    std::string made; ///< path of a file that has a line [number of the event, s of the network's time] for each that was made; empty: none
};

/// Reads a network's configuration; throws BadConfiguration.
NetworkConfiguration ReadNetworkConfiguration(const Json& json);

} // namespace netboxit
