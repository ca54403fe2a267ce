// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "headers.h"

#include <compare>
#include <vector>

namespace netboxit
{

/// An IPv4 or IPv6 address in the VLAN that its frame was tagged for.
struct NetworkAddress
{
    std::uint32_t vlans{}; ///< identifiers of the outer and the inner tag, 12 bits each; 0: none
    std::uint8_t version{};
    std::array<std::uint8_t, 16> bytes{}; ///< IPv4: the first four

    auto operator<=>(const NetworkAddress&) const = default;
};

/// What an ARP packet (RFC 826) or a message of IPv6 neighbour discovery (RFC 4861) says and asks.
struct NeighbourMessage
{
    /// "This address is at this MAC address."
    struct Claim
    {
        NetworkAddress address;
        MacAddress mac{};
        /// IPv6: the R flag of an advertisement, which the other messages do not have; IPv4: false.
        std::optional<bool> router;
    };

    std::optional<Claim> claim;
    /// The address whose MAC address is asked for.
    std::optional<NetworkAddress> question;
    /// The asker wants to use the address itself and asks whether it is free: an ARP probe (RFC 5227, 2.1), or the
    /// solicitation of duplicate address detection (RFC 4862, 5.4).
    bool probe{};
    /// It says its claim to everyone and asks nothing: an ARP announcement, an unsolicited neighbour advertisement.
    bool announcement{};
    /// Of ARP: the asker's addresses, for the answer.
    Bytes asker;
};

/// Nothing when the frame is neither, when a receiver would have to discard it (RFC 4861, 6.1 and 7.1), and behind
/// more than two VLAN tags.
std::optional<NeighbourMessage> ReadNeighbourMessage(Bytes frame, const Headers& headers);

/// The frame (without FCS) by which the owner of the address that `frame` asks for would answer: an ARP reply, or a
/// neighbour advertisement with the flags override and, when it was asked by a unicast address, solicited.
std::vector<std::uint8_t> AnswerOf(
    Bytes frame, const Headers& headers, const NeighbourMessage& message, const MacAddress& owner, bool router);

} // namespace netboxit
