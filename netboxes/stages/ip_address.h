// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "direction.h"
#include "sip_hash.h"

#include "headers.h"

#include <array>
#include <compare>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

namespace netboxit::stages
{

/// The bytes of an address, IPv4's in the first 4 of the first word. Written and read by whole words: to read a word of which a part was just
/// written, the processor waits for all its stores before.
using AddressWords = std::array<std::uint64_t, 2>;

/// Of an address in a header of this version.
inline AddressWords WordsOf(const std::uint8_t* address, std::uint8_t version)
{
    if (version == 4)
    {
        std::uint32_t word{};
        std::memcpy(&word, address, sizeof word);
        return {word, 0};
    }
    AddressWords words{};
    std::memcpy(&words, address, sizeof words);
    return words;
}

/// Of IPv4 or IPv6.
struct IpAddress
{
    AddressWords words{};
    std::uint8_t version{};

    auto operator<=>(const IpAddress&) const = default;

    bool operator==(const IpAddress& other) const
    {
        return words[0] == other.words[0] && words[1] == other.words[1] && version == other.version;
    }

    void AddTo(SipHash& hash) const
    {
        if (version == 4)
        {
            hash.Add(words[0]);
            return;
        }
        hash.Add(words[0]);
        hash.Add(words[1]);
    }
};

/// Of the node at the port.
IpAddress NodeOf(const IpHeaders& ip, Direction direction);

/// Nothing where the text is no address.
std::optional<IpAddress> ReadIpAddress(const std::string& text);
std::string TextOf(const IpAddress& address);

} // namespace netboxit::stages
