// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "configuration.h"
#include "loop.h"

namespace netboxit
{

/// Makes the port of every station as the configuration says, in the order of the stations. Interfaces that
/// are not there yet are waited for, until the end signal comes (throws Interrupted). Throws std::exception
/// that names the port and what it lacks.
std::vector<std::unique_ptr<Port>> OpenPorts(const Configuration& configuration, EndSignal& end);

} // namespace netboxit
