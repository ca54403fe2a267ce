// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "configuration.h"

#include <array>
#include <map>

namespace netboxit
{

/// One end of a wire, by names: a station of a netbox, or an interface of a router.
struct WireEndName
{
    std::string node;
    std::string port;
};

/// A value that a handler of a router's element is given at a simulated time.
struct ScheduledWrite
{
    std::int64_t at{}; ///< ns
    std::string element;
    std::string handler;
    std::string value;
};

/// A Click router.
struct RouterConfiguration
{
    std::string name;
    std::string configuration;                  ///< path of its Click file
    std::map<std::string, std::string> defines; ///< its variables; IAN_ETH has the Ethernet address of interface `ian`
    std::vector<std::string> interfaces;
    std::string statistics; ///< path, empty: none
    std::vector<ScheduledWrite> writes;
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
};

/// Reads a network's configuration; throws BadConfiguration.
NetworkConfiguration ReadNetworkConfiguration(const Json& json);

} // namespace netboxit
