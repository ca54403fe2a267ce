// SPDX-License-Identifier: GPL-2.0-or-later
#include "announcement.h"

#include <algorithm>

namespace netboxit
{

namespace
{

/// RFC 826: Ethernet (1), IPv4, lengths 6 and 4, request (1).
constexpr std::array<std::uint8_t, 10> REQUEST{0x08, 0x06, 0, 1, 0x08, 0, 6, 4, 0, 1};
/// One VLAN tag; with more, the announcement would not fit.
constexpr std::size_t MOST_TAGS = VLAN_TAG;

} // namespace

std::optional<std::array<std::uint8_t, 64>> AnnouncementOf(Bytes frame, const Headers& headers)
{
    const auto& mac = headers.destination;
    const auto tags = static_cast<std::size_t>(headers.afterType.data() - frame.data()) - ETHERNET_HEADER;
    if ((mac[0] & 1) != 0 || tags > MOST_TAGS)
    {
        return std::nullopt;
    }
    std::array<std::uint8_t, 64> announcement{};
    auto end = std::fill_n(announcement.begin(), mac.size(), 0xff);
    end = std::ranges::copy(mac, end).out;
    end = std::ranges::copy(frame.subspan(2 * mac.size(), tags), end).out;
    end = std::ranges::copy(REQUEST, end).out;
    end = std::ranges::copy(mac, end).out;
    end = std::ranges::copy(headers.ip->destination, end).out;
    end += mac.size();
    std::ranges::copy(headers.ip->destination, end);
    return announcement;
}

} // namespace netboxit
