// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "address.h"

#include <nlohmann/json.hpp>

#include <string>

namespace netboxit::middleware
{

/// The interface by which packets to a host leave. Throws std::runtime_error where none leads there, or the host is this one.
std::string InterfaceTo(const HostAddress& host);

/// By what `ip -json route get ADDRESS` printed. Throws std::runtime_error where the address is this host's own.
std::string InterfaceOf(const nlohmann::json& routes);

} // namespace netboxit::middleware
