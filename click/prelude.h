// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "descriptor.h"

#include <string>
#include <string_view>

namespace netboxit::click
{

/// Names of the elements inside the prelude's compounds, by which the driver knows them again in the flat
/// configuration.
inline constexpr std::string_view DEVICE_COUNTER = "device";
inline constexpr std::string_view DEVICE_ARGUMENTS = "netboxit_arguments";
inline constexpr std::string_view DISCARDS = "netboxit_discards";
inline constexpr std::string_view CONTROL_SOCKET = "netboxit_control";

/// A configuration behind our definitions of what the library lacks (FromDevice, ToDevice, ControlSocket, …),
/// as a file in memory. Click's messages name `name` and the lines of `text`.
Descriptor ComposeConfiguration(const std::string& text, const std::string& name);

/// Throws std::system_error when the file cannot be read.
std::string ReadConfiguration(const std::string& path);

/// Click's messages as the user shall read them: about `configuration` instead of the file in `memory`, and
/// with the reason behind what the library does not know.
std::string ExplainMessages(const std::string& messages,
                            const std::string& memory,
                            const std::string& configuration);

} // namespace netboxit::click
