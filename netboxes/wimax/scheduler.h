// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "service_flow.h"

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

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
    std::size_t connection{};  ///< the same in each subframe
    double weight{1.0};
    double bytesPerSymbol{1.0}; ///< of its burst profile
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
///
/// First the reserved rates by class (UGS, ertPS, rtPS, nrtPS, BE), round robin within a class, a largest SDU a
/// turn; then what else is wanted and permitted, by the scheduler's own rule.
class Scheduler
{
  public:
    virtual ~Scheduler() = default;
    /// Sets `granted` of every claim.
    void Share(std::span<Claim> claims, Room& room);

  protected:
    using Limit = std::uint32_t Claim::*;
    /// Round robin among the claims of a class.
    void ServeClass(std::span<Claim> claims, Room& room, Scheduling scheduling, Limit limit);
    /// One turn of at most `turn` bytes; 0 when the claim has all it may have or nothing useful fits.
    static std::uint32_t Serve(Claim& claim, Room& room, Limit limit, std::uint32_t turn);

  private:
    virtual void ShareRest(std::span<Claim> claims, Room& room) = 0;

    std::array<std::size_t, SCHEDULING_NAMES.size()> m_first{}; ///< whose turn is first, by class
};

/// The rest by class too, in strict order.
class StrictPriority : public Scheduler
{
    void ShareRest(std::span<Claim> claims, Room& room) override;
};

/// The rest in proportion to weights, whatever the class: start-time fair queueing of bytes (P. Goyal, H. Vin,
/// H. Cheng, "Start-time fair queueing", IEEE/ACM Trans. Netw. 5(5), 1997).
class WeightedFair : public Scheduler
{
    void ShareRest(std::span<Claim> claims, Room& room) override;

    std::vector<double> m_tags;       ///< by connection: bytes per weight that it had so far
    std::vector<double> m_waitsSince; ///< by connection: last subframe, of those counted, that left it waiting
    double m_subframe{1.0};
    double m_virtualTime{};
};

/// The rest to whose burst profile is best in proportion to what it had lately (F. Kelly, "Charging and rate control
/// for elastic traffic", Eur. Trans. Telecommun. 8, 1997; averages as in HDR, A. Jalali et al., VTC 2000), times
/// its weight.
class ProportionalFair : public Scheduler
{
    void ShareRest(std::span<Claim> claims, Room& room) override;

    std::vector<double> m_averages; ///< by connection: bytes a frame
};

/// The rest to the most efficient burst profile first, round robin among equals: the most bytes a subframe, at the
/// cost of who is far.
class MaximumSnr : public Scheduler
{
    void ShareRest(std::span<Claim> claims, Room& room) override;

    std::size_t m_frame{}; ///< in turn each of those with equal profiles is first
};

inline constexpr std::array SCHEDULER_NAMES{std::string_view("strict"),
                                            std::string_view("weighted"),
                                            std::string_view("proportional-fair"),
                                            std::string_view("maximum-snr")};

/// By its index in SCHEDULER_NAMES.
std::unique_ptr<Scheduler> MakeScheduler(std::size_t name);

} // namespace netboxit::wimax
