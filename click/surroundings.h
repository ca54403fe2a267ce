// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "device.h"

#include <nlohmann/json.hpp>

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace netboxit::click
{

/// What a router has from where it runs: its time and its interfaces.
class Surroundings
{
  public:
    virtual ~Surroundings() = default;

    /// Since 1970. Never goes back.
    virtual std::chrono::nanoseconds Now() const = 0;
    /// Opens an interface, waiting for it as long as `wait`. Throws NoInterface, std::system_error.
    virtual std::unique_ptr<Device> OpenDevice(const std::string& name, std::chrono::milliseconds wait) = 0;
    /// Something happened at an interface (stages::Chain::Announce).
    virtual void Announce(const std::string& interface, std::string_view event, const nlohmann::json& details) = 0;
    /// {stations: {interface: {…}}}: what is counted now.
    virtual void Sample(const nlohmann::json& statistics) = 0;
    /// As 02:00:00:00:00:01; nothing where no interface has this name. Does not wait.
    virtual std::optional<std::string> HardwareAddress(const std::string& name) const = 0;
};

/// An Ethernet address that was given as a variable (README.md): IAN_ETH for the interface `ian`.
std::optional<std::string> DefinedAddress(const std::map<std::string, std::string>& defines, const std::string& name);

} // namespace netboxit::click
