// SPDX-License-Identifier: GPL-2.0-or-later
#include "scheduler.h"

#include "mac_overhead.h"

#include <algorithm>
#include <cmath>

namespace netboxit::wimax
{

namespace
{

/// One SDU of Ethernet's largest size with its overhead.
constexpr std::uint32_t QUANTUM = LARGEST_SDU + PDU_OVERHEAD;
/// Less than this carries no payload.
constexpr std::uint32_t SMALLEST_FRAGMENT = PDU_OVERHEAD + FRAGMENTATION_SUBHEADER + 1;

constexpr std::array ORDER{Scheduling::Ugs, Scheduling::RtPs, Scheduling::NrtPs, Scheduling::BestEffort};

} // namespace

std::uint32_t OnAir(std::uint32_t payload, double factor)
{
    return static_cast<std::uint32_t>(std::min(std::ceil(payload * factor), 2147483648.0));
}

void StrictPriority::Share(std::span<Claim> claims, Room& room)
{
    for (const auto limit : {&Claim::reserved, &Claim::permitted})
    {
        for (const auto scheduling : ORDER)
        {
            ServeClass(claims, room, scheduling, limit);
        }
    }
    for (auto& first : m_first)
    {
        ++first;
    }
}

void StrictPriority::ServeClass(std::span<Claim> claims, Room& room, Scheduling scheduling, Limit limit)
{
    bool progress = true;
    while (progress)
    {
        progress = false;
        const auto first = m_first[static_cast<std::size_t>(scheduling)];
        for (std::size_t i = 0; i < claims.size(); ++i)
        {
            auto& claim = claims[(first + i) % claims.size()];
            const auto allowed = std::min(claim.wanted, claim.*limit);
            if (claim.scheduling != scheduling || allowed <= claim.granted)
            {
                continue;
            }
            const auto turn = std::min(allowed - claim.granted, QUANTUM);
            const auto given = std::min(turn, room.Left(claim.burst));
            // The end of a subframe is worth a turn only if a fragment fits, or an earlier turn grows.
            if (given == turn || given >= SMALLEST_FRAGMENT)
            {
                room.Take(claim.burst, given);
                claim.granted += given;
                progress = true;
            }
        }
    }
}

} // namespace netboxit::wimax
