// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "service_flow.h"

#include <array>
#include <cstdint>
#include <span>

namespace netboxit::wimax
{

/// What one connection asks of a subframe, in bytes on the air.
struct Claim
{
    std::size_t burst{}; ///< which burst of the subframe would carry it
    Scheduling scheduling{};
    std::uint32_t wanted{};
    std::uint32_t reserved{};  ///< of `wanted`: what its reserved rate entitles it to now
    std::uint32_t permitted{}; ///< of `wanted`: what its maximum rate allows now
    std::uint32_t granted{};   ///< the scheduler's answer
};

/// `payload` bytes of SDUs as bytes on the air, where headers make them `factor` times as many.
std::uint32_t OnAir(std::uint32_t payload, double factor);

/// The free room of a subframe, in terms of its bursts.
class Room
{
  public:
    virtual ~Room() = default;
    /// Bytes that can still be added to a burst; opening one costs its preamble and its element in the map.
    virtual std::uint32_t Left(std::size_t burst) const = 0;
    virtual void Take(std::size_t burst, std::uint32_t bytes) = 0;
};

/// Divides a subframe among connections: called once for each subframe by the base station.
class Scheduler
{
  public:
    virtual ~Scheduler() = default;
    /// Sets `granted` of every claim. Claims of one direction come in the same order each time.
    virtual void Share(std::span<Claim> claims, Room& room) = 0;
};

/// First the reserved rates, then what else is wanted and permitted; each time UGS, rtPS, nrtPS, BE in strict
/// order, and round robin within a class, a largest SDU a turn.
class StrictPriority : public Scheduler
{
  public:
    void Share(std::span<Claim> claims, Room& room) override;

  private:
    using Limit = std::uint32_t Claim::*;
    void ServeClass(std::span<Claim> claims, Room& room, Scheduling scheduling, Limit limit);

    std::array<std::size_t, SCHEDULING_NAMES.size()> m_first{}; ///< whose turn is first, by class
};

} // namespace netboxit::wimax
