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

constexpr std::array ORDER{
    Scheduling::Ugs, Scheduling::ErtPs, Scheduling::RtPs, Scheduling::NrtPs, Scheduling::BestEffort};

/// Turn of fair shares: small against a subframe, so that shares are met in each of them.
constexpr std::uint32_t FAIR_TURN = 256;

/// Frames over which proportional fairness looks back.
constexpr double MEMORY = 100.0;

/// A connection that had nothing at all compares as if it had had this much.
constexpr double NEXT_TO_NOTHING = 1.0;

double& At(std::vector<double>& values, std::size_t connection, double otherwise)
{
    if (connection >= values.size())
    {
        values.resize(connection + 1, otherwise);
    }
    return values[connection];
}

bool IsOpen(const Claim& claim)
{
    return std::min(claim.wanted, claim.permitted) > claim.granted;
}

} // namespace

std::uint32_t OnAir(std::uint32_t payload, double factor)
{
    return static_cast<std::uint32_t>(std::min(std::ceil(payload * factor), 2147483648.0));
}

void Scheduler::Share(std::span<Claim> claims, Room& room)
{
    for (const auto scheduling : ORDER)
    {
        ServeClass(claims, room, scheduling, &Claim::reserved);
    }
    ShareRest(claims, room);
    for (auto& first : m_first)
    {
        ++first;
    }
}

void Scheduler::ServeClass(std::span<Claim> claims, Room& room, Scheduling scheduling, Limit limit)
{
    bool progress = true;
    while (progress)
    {
        progress = false;
        const auto first = m_first[static_cast<std::size_t>(scheduling)];
        for (std::size_t i = 0; i < claims.size(); ++i)
        {
            auto& claim = claims[(first + i) % claims.size()];
            if (claim.scheduling == scheduling && Serve(claim, room, limit, QUANTUM) > 0)
            {
                progress = true;
            }
        }
    }
}

std::uint32_t Scheduler::Serve(Claim& claim, Room& room, Limit limit, std::uint32_t most)
{
    const auto allowed = std::min(claim.wanted, claim.*limit);
    if (allowed <= claim.granted)
    {
        return 0;
    }
    const auto turn = std::min(allowed - claim.granted, most);
    const auto given = std::min(turn, room.Left(claim.burst));
    // The end of a subframe is worth a turn only if a fragment fits, or an earlier turn grows.
    if (given < turn && given < SMALLEST_FRAGMENT)
    {
        return 0;
    }
    room.Take(claim.burst, given);
    claim.granted += given;
    return given;
}

void StrictPriority::ShareRest(std::span<Claim> claims, Room& room)
{
    for (const auto scheduling : ORDER)
    {
        ServeClass(claims, room, scheduling, &Claim::permitted);
    }
}

void WeightedFair::ShareRest(std::span<Claim> claims, Room& room)
{
    // A heap of who had least so far. A connection that comes anew begins where the others are; one that still waits
    // keeps its turn, even where another one had the last bytes of a symbol that were of no use to it.
    std::vector<std::pair<double, Claim*>> open;
    for (auto& claim : claims)
    {
        auto& tag = At(m_tags, claim.connection, 0.0);
        if (IsOpen(claim))
        {
            const bool waits = At(m_waitsSince, claim.connection, 0.0) == m_subframe - 1.0;
            tag = waits ? tag : std::max(tag, m_virtualTime);
            open.emplace_back(tag, &claim);
        }
    }
    const auto later = [](const auto& one, const auto& other)
    { return std::pair(one.first, one.second->connection) > std::pair(other.first, other.second->connection); };
    std::ranges::make_heap(open, later);
    while (!open.empty())
    {
        std::ranges::pop_heap(open, later);
        auto& [tag, claim] = open.back();
        const auto given = Serve(*claim, room, &Claim::permitted, FAIR_TURN);
        if (given == 0)
        {
            open.pop_back();
            continue;
        }
        m_virtualTime = std::max(m_virtualTime, tag);
        tag += given / claim->weight;
        m_tags[claim->connection] = tag;
        std::ranges::push_heap(open, later);
    }
    for (const auto& claim : claims)
    {
        if (IsOpen(claim))
        {
            m_waitsSince[claim.connection] = m_subframe;
        }
    }
    m_subframe += 1.0;
}

void ProportionalFair::ShareRest(std::span<Claim> claims, Room& room)
{
    std::vector<std::pair<double, Claim*>> open;
    for (auto& claim : claims)
    {
        const auto average = At(m_averages, claim.connection, 0.0);
        if (IsOpen(claim))
        {
            open.emplace_back(claim.weight * claim.bytesPerSymbol / std::max(average, NEXT_TO_NOTHING), &claim);
        }
    }
    std::ranges::stable_sort(open, std::ranges::greater(), &std::pair<double, Claim*>::first);
    for (auto& [metric, claim] : open)
    {
        while (Serve(*claim, room, &Claim::permitted, QUANTUM) > 0)
        {
        }
    }
    for (const auto& claim : claims)
    {
        auto& average = m_averages[claim.connection];
        average += (claim.granted - average) / MEMORY;
    }
}

void MaximumSnr::ShareRest(std::span<Claim> claims, Room& room)
{
    std::vector<Claim*> open;
    for (auto& claim : claims)
    {
        if (IsOpen(claim))
        {
            open.push_back(&claim);
        }
    }
    std::ranges::stable_sort(open, std::ranges::greater(), &Claim::bytesPerSymbol);
    for (auto first = open.begin(); first != open.end();)
    {
        const auto end = std::find_if(
            first, open.end(), [&](const Claim* claim) { return claim->bytesPerSymbol != (*first)->bytesPerSymbol; });
        const auto equals = static_cast<std::size_t>(end - first);
        std::rotate(first, first + static_cast<std::ptrdiff_t>(m_frame % equals), end);
        for (bool progress = true; progress;)
        {
            progress = false;
            for (auto claim = first; claim != end; ++claim)
            {
                progress |= Serve(**claim, room, &Claim::permitted, QUANTUM) > 0;
            }
        }
        first = end;
    }
    ++m_frame;
}

std::unique_ptr<Scheduler> MakeScheduler(std::size_t name)
{
    switch (name)
    {
    case 1:
        return std::make_unique<WeightedFair>();
    case 2:
        return std::make_unique<ProportionalFair>();
    case 3:
        return std::make_unique<MaximumSnr>();
    default:
        return std::make_unique<StrictPriority>();
    }
}

} // namespace netboxit::wimax
