// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <optional>

namespace netboxit
{

/// The mean and the variance of values, one after the other (Welford 1962).
class Moments
{
  public:
    void Add(double value);

    std::uint64_t Count() const
    {
        return m_count;
    }

    double Mean() const
    {
        return m_mean;
    }

    /// The variance over the squared mean.
    double SquaredVariation() const
    {
        return m_squares / static_cast<double>(m_count) / (m_mean * m_mean);
    }

  private:
    std::uint64_t m_count{};
    double m_mean{};
    double m_squares{}; ///< of the distances from the mean
};

/// How long packets wait in a queue, by Kingman's formula for G/G/1 (J. F. C. Kingman, "The single server queue in heavy traffic", 1961; Y. Dai, PhD thesis,
/// Queen Mary University of London, 2018, Eq. 5.1 and 5.5 to 5.8), from what came and left. Times are simulated ones, ns, and do not fall from call to call.
class Kingman
{
  public:
    struct Estimate
    {
        double utilisation{};
        /// s, without being served; none where the formula has no value, because as much came as is served, or more.
        std::optional<double> wait;
    };

    void Arrives(std::int64_t now);
    /// A packet that arrived at `since` is served. Its service began when it came, or when the one before it was served (the thesis does not say
    /// how it measures this).
    void Leaves(std::int64_t since, std::int64_t now);
    /// Of what came and left since the last time; none where that is too little to tell a variance.
    std::optional<Estimate> Take();

  private:
    Moments m_intervals; ///< s, between arrivals
    Moments m_services;  ///< s
    std::optional<std::int64_t> m_arrived;
    std::int64_t m_left{};
};

} // namespace netboxit
