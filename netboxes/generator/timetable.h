// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "ns3/random-variable-stream.h"

#include <cstdint>
#include <memory>

namespace netboxit
{

/// When the frames of a stream are to leave. All times are ns of simulated time.
class Timetable
{
  public:
    virtual ~Timetable() = default;
    /// Begins anew at `now`.
    virtual void Start(std::int64_t now) = 0;
    /// When the next frame is to leave; NEVER after the last one.
    virtual std::int64_t Next() const = 0;
    /// The next frame has had its turn.
    virtual void Advance() = 0;
    /// Passes over all that was to leave before `time`, and returns how many frames those were.
    virtual std::uint64_t PassOver(std::int64_t time) = 0;
    /// Changes the mean rate (frames/s) from `now` on.
    virtual void SetRate(double rate, std::int64_t now) = 0;

    static constexpr std::int64_t NEVER = INT64_MAX;
};

/// Groups of `burst` frames at equal distances, each group back to back; a burst of 1 is a constant rate. Times are computed from the
/// start, so that rounding to nanoseconds does not add up.
class PeriodicTimetable : public Timetable
{
  public:
    PeriodicTimetable(double rate, std::uint64_t burst);

    void Start(std::int64_t now) override;
    std::int64_t Next() const override;
    void Advance() override;
    std::uint64_t PassOver(std::int64_t time) override;
    void SetRate(double rate, std::int64_t now) override;

  private:
    std::int64_t TimeOf(std::uint64_t group) const;

    std::uint64_t m_burst;
    double m_period; ///< of the groups, ns
    std::int64_t m_start{0};
    std::uint64_t m_group{0};
    std::uint64_t m_inGroup{0};
    std::int64_t m_next{0};
};

/// A Poisson process (RFC 2330, 11.1.1): independent, exponentially distributed gaps.
class PoissonTimetable : public Timetable
{
  public:
    PoissonTimetable(double rate, std::int64_t randomStream);

    void Start(std::int64_t now) override;
    std::int64_t Next() const override;
    void Advance() override;
    std::uint64_t PassOver(std::int64_t time) override;
    void SetRate(double rate, std::int64_t now) override;

  private:
    ns3::Ptr<ns3::ExponentialRandomVariable> m_gaps;
    double m_mean; ///< gap, ns
    double m_next{0};
};

} // namespace netboxit
