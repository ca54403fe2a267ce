// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "part_configuration.h"

namespace netboxit::middleware
{

/// The file that the daemon is given: {"management": [entries of part_configuration.h], "state": path, "control": path or null,
/// "journal": path or null}.
struct DaemonConfiguration
{
    std::vector<Part> parts;
    std::string state;                  ///< the file that it writes its state to
    std::optional<std::string> control; ///< the Unix socket that it answers at
    std::optional<std::string> journal; ///< the file that it writes down in what happens
};

/// Throws std::invalid_argument with the key, its value and what is permitted: also where a member is to enforce its budget by
/// windows, which are in the kernel here.
DaemonConfiguration ReadDaemonConfiguration(const Json& json);

} // namespace netboxit::middleware
