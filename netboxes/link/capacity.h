// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../engine/timeline.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace netboxit::link
{

/// A frame that takes longer to send is given up: the netbox forgets frames that are inside for so long.
inline constexpr std::int64_t GIVE_UP = 30'000'000'000;

/// What a transmitter can send, and when. Times are simulated ones, ns; calls come in their order.
class Capacity
{
  public:
    virtual ~Capacity() = default;
    /// When a frame of so many bytes is sent whose turn comes at `start`: within GIVE_UP, or never.
    virtual std::int64_t Finish(std::int64_t start, std::uint32_t bytes) = 0;
    /// bit/s.
    virtual double Rate(std::int64_t now) const = 0;
    /// The network's time begins now.
    virtual void Begin(std::int64_t) {}
};

/// The same rate at all times.
class ConstantRate : public Capacity
{
  public:
    /// bit/s.
    explicit ConstantRate(double rate) : m_rate(rate)
    {
    }

    std::int64_t Finish(std::int64_t start, std::uint32_t bytes) override;

    double Rate(std::int64_t) const override
    {
        return m_rate;
    }

  private:
    double m_rate;
};

/// A number over the network's time; before it has begun, that of time 0. It may begin anew whenever its last point is reached.
class Series
{
  public:
    Series(const Json& points, Timeline::Between between, bool repeat);

    void Begin(std::int64_t now)
    {
        m_origin = now;
    }

    double At(std::int64_t now) const;
    /// Until when it stays as it is, or goes on in a straight line; the latest time there is when for ever.
    std::int64_t Until(std::int64_t now) const;
    /// The value just before Until(now).
    double AtEnd(std::int64_t now) const;

  private:
    struct Place
    {
        double seconds;  ///< since the first point
        double lapStart; ///< since the network's time began
    };

    Place PlaceOf(std::int64_t now) const;

    Timeline m_timeline;
    Timeline::Between m_between;
    double m_last;
    bool m_repeat;
    std::int64_t m_origin{-1};
};

/// A rate that changes with time, also while a frame is being sent.
class RateOverTime : public Capacity
{
  public:
    /// bit/s.
    explicit RateOverTime(Series series) : m_series(std::move(series))
    {
    }

    std::int64_t Finish(std::int64_t start, std::uint32_t bytes) override;

    double Rate(std::int64_t now) const override
    {
        return m_series.At(now);
    }

    void Begin(std::int64_t now) override
    {
        m_series.Begin(now);
    }

  private:
    Series m_series;
};

/// Mahimahi's trace (Netravali et al., USENIX ATC 2015): moments at which up to 1504 bytes can leave, a packet of 1500 bytes with 4 of a
/// TUN device. What waits is sent piece by piece; what is left of a moment is lost when nothing waits.
class Opportunities : public Capacity
{
  public:
    static constexpr std::uint32_t BYTES = 1504;

    /// `milliseconds` do not fall; the last one, above 0, is the time after which they repeat.
    Opportunities(std::vector<std::uint32_t> milliseconds, bool repeat);

    std::int64_t Finish(std::int64_t start, std::uint32_t bytes) override;
    /// The mean over the whole trace.
    double Rate(std::int64_t) const override;
    /// Until then they have gone on since the start of the process: a link on which nothing ever leaves would have no state at all.
    void Begin(std::int64_t now) override;

  private:
    std::int64_t TimeOfNext() const;
    void Seek(std::int64_t start);
    void Step();

    std::vector<std::uint32_t> m_milliseconds;
    bool m_repeat;
    std::int64_t m_period;
    std::int64_t m_lap{0}; ///< when this round of the trace began
    std::size_t m_next{0}; ///< the first one not used
    std::int64_t m_current{-1};
    std::uint32_t m_left{0}; ///< bytes that can still leave at m_current
};

} // namespace netboxit::link
