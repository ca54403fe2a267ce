// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "memory_wire.h"

#include <chrono>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>

namespace netboxit::click
{

/// An interface that is an end of a memory wire.
struct MemoryInterface
{
    std::string folder;
    WireEnd end{};
};

/// The command line of click-router, see README.md.
struct Options
{
    std::string configuration;
    std::map<std::string, std::string> defines;
    std::map<std::string, MemoryInterface> memory; ///< by name
    std::optional<std::string> control;
    std::optional<std::string> statistics;
    std::optional<std::string> journal;
    std::optional<std::string> stages; ///< a file
    int priority{0};
    std::chrono::milliseconds wait{10'000};
    bool check{false};
};

/// The command line makes no sense; the message says which word.
struct BadOption : std::invalid_argument
{
    using std::invalid_argument::invalid_argument;
};

Options ReadOptions(int argc, char** argv);

inline constexpr const char* USAGE =
    "usage: click-router [--control UNIXSOCKET] [--statistics FILE] "
    "[--journal FILE] [--stages FILE] [--define NAME=VALUE]… [--memory NAME=FOLDER:END]… [--priority N] [--wait SECONDS] [--check] "
    "CONFIGURATION.click";

} // namespace netboxit::click
