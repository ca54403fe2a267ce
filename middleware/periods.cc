// SPDX-License-Identifier: GPL-2.0-or-later
#include "periods.h"

#include "messages.h"

#include <algorithm>

namespace netboxit::middleware
{

namespace
{

/// Bytes in front of a message and behind it: Ethernet 14 and its FCS 4, IPv6 40 (RFC 8200), UDP 8 (RFC 768). With IPv4 it is less.
constexpr Rate HEADERS = 14 + 4 + 40 + 8;
constexpr Rate BITS = 8;

/// As OSPF's hello interval and the time after which a neighbour is dead have it (RFC 2328, section C.3: 4 times).
constexpr Time LEASE = 4;
constexpr Time SHORTEST_PERIOD = 4 * SECOND;
constexpr Rate REFRESH_PART = 200;       ///< one part of so many of the link
constexpr Rate ANNOUNCEMENT_PART = 1000; ///< as above
constexpr Rate CHANGE_PART = 100;        ///< as above
constexpr Rate RETURN_PART = 20;         ///< as above
constexpr Time LONGEST_SPREAD = 60 * SECOND;
constexpr Time SHORTEST_SPACING = 10 * MILLISECOND;
constexpr Time LONGEST_SPACING = SECOND;

Rate BitsOf(Kind kind)
{
    return (static_cast<Rate>(LengthOf(kind)) + HEADERS) * BITS;
}

/// `bits` in each period take at most one of `parts` of the rate: bits / period * parts <= rate.
Time PeriodFor(Rate bits, Rate parts, Rate rate)
{
    auto period = SHORTEST_PERIOD;
    while (period < LONGEST_PERIOD && bits * parts > rate * (period / SECOND))
    {
        period *= 2;
    }
    return period;
}

/// For so long `bits` take one of `parts` of the rate.
Time TimeFor(Rate bits, Rate parts, Rate rate)
{
    return static_cast<Time>(static_cast<double>(bits * parts) / static_cast<double>(std::max<Rate>(rate, 1)) * SECOND);
}

} // namespace

Periods PeriodsFor(std::uint32_t members, Rate capacity, std::uint32_t copies)
{
    // A rate above this has the shortest periods with any number of members; products stay in range.
    const auto rate = std::clamp<Rate>(capacity, 0, 1'000'000'000'000);
    const auto exchange = BitsOf(Kind::Refresh) + BitsOf(Kind::Grant);
    const auto refresh = PeriodFor(exchange * members, REFRESH_PART, rate);
    return {.refresh = refresh,
            .lease = LEASE * refresh,
            .announce = PeriodFor(BitsOf(Kind::Announcement) * copies, ANNOUNCEMENT_PART, rate)};
}

Time SpreadFor(Rate share)
{
    // A refresh, a challenge, a join with its token, a grant.
    const auto bits = BitsOf(Kind::Refresh) + BitsOf(Kind::Challenge) + BitsOf(Kind::Join) + BitsOf(Kind::Grant);
    return share < 1 ? LONGEST_SPREAD : std::min(TimeFor(bits, RETURN_PART, share), LONGEST_SPREAD);
}

Time SpacingFor(Rate capacity, std::uint32_t copies)
{
    const auto spacing = TimeFor(BitsOf(Kind::Announcement) * copies, CHANGE_PART, capacity);
    return capacity < 1 ? LONGEST_SPACING : std::clamp(spacing, SHORTEST_SPACING, LONGEST_SPACING);
}

} // namespace netboxit::middleware
