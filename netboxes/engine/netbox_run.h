// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "netbox.h"

namespace netboxit
{

// What is done with a netbox before and after a loop runs it.

/// Its live changes come at their times. The configuration must outlive the simulation.
void ScheduleChanges(const Configuration& configuration, Netbox& netbox);

/// In virtual time: the network's time begins at the time of the configuration, and the live changes come at theirs.
void ScheduleCourse(const Configuration& configuration, Netbox& netbox);

/// Writes a file; throws std::runtime_error, which says `what` could not be written and why. Without a path nothing is written.
void WriteJson(const std::string& path, const Json& content, const std::string& what);

/// Writes what is left when the loop has ended: frame records, the journal, statistics.
void Conclude(const Configuration& configuration, Netbox& netbox, const Json& statistics);

} // namespace netboxit
