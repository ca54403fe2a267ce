// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "direction.h"
#include "sip_hash.h"

#include "headers.h"

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>

namespace netboxit::stages
{

/// Of IPv4 or IPv6.
struct IpAddress
{
    std::array<std::uint8_t, 16> bytes{}; ///< IPv4's in the first 4
    std::uint8_t version{};

    auto operator<=>(const IpAddress&) const = default;

    void AddTo(SipHash& hash) const
    {
        hash.Add(bytes);
        hash.Add(version);
    }
};

/// Of the node at the port.
IpAddress NodeOf(const IpHeaders& ip, Direction direction);

/// Nothing where the text is no address.
std::optional<IpAddress> ReadIpAddress(const std::string& text);
std::string TextOf(const IpAddress& address);

} // namespace netboxit::stages
