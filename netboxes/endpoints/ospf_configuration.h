// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../engine/configuration_section.h"
#include "host.h"

namespace netboxit
{

/// The `ospf` of a host (README.md, "What the segment reads"), for its interfaces. Throws BadConfiguration.
OspfConfiguration ReadOspf(const Json& json, const std::string& path, const std::vector<InterfaceConfiguration>& interfaces);

} // namespace netboxit
