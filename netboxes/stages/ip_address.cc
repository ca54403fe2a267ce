// SPDX-License-Identifier: GPL-2.0-or-later
#include "ip_address.h"

#include <arpa/inet.h>

namespace netboxit::stages
{

IpAddress NodeOf(const IpHeaders& ip, Direction direction)
{
    return {WordsOf((direction == Direction::FromNode ? ip.source : ip.destination).data(), ip.version), ip.version};
}

std::optional<IpAddress> ReadIpAddress(const std::string& text)
{
    IpAddress address;
    if (inet_pton(AF_INET, text.c_str(), address.words.data()) == 1)
    {
        address.version = 4;
        return address;
    }
    if (inet_pton(AF_INET6, text.c_str(), address.words.data()) == 1)
    {
        address.version = 6;
        return address;
    }
    return std::nullopt;
}

std::string TextOf(const IpAddress& address)
{
    std::array<char, INET6_ADDRSTRLEN> text{};
    inet_ntop(address.version == 4 ? AF_INET : AF_INET6, address.words.data(), text.data(), text.size());
    return text.data();
}

} // namespace netboxit::stages
