// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "descriptor.h"

#include <string>
#include <string_view>

namespace netboxit
{

/// Names of the elements inside the prelude's compounds, by which the driver knows them again in the flat
/// configuration.
inline constexpr std::string_view DEVICE_COUNTER = "device";
inline constexpr std::string_view DEVICE_ARGUMENTS = "netboxit_arguments";
inline constexpr std::string_view DISCARDS = "netboxit_discards";
inline constexpr std::string_view CONTROL_SOCKET = "netboxit_control";

/// The user's configuration behind our definitions of what the library lacks (FromDevice, ToDevice,
/// ControlSocket, …), as a file in memory. Click's messages name the user's file and lines. Throws
/// std::system_error when the file cannot be read.
Descriptor ComposeConfiguration(const std::string& path);

/// Click's messages as the user shall read them: about `configuration` instead of the file in `memory`, and
/// with the reason behind what the library does not know.
std::string ExplainMessages(const std::string& messages,
                            const std::string& memory,
                            const std::string& configuration);

} // namespace netboxit
