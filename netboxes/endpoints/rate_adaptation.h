// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace netboxit
{

/// Which representation of a video is fetched next. The same rule, to the bit, as applications/dash/adaptation.py.
class RateAdaptation
{
  public:
    enum class Rule
    {
        Throughput,
        Buffer
    };

    /// Of `rates`, bit/s, which rise. `safety`: how much of the throughput is trusted; `longest` of the play-out buffer, s.
    RateAdaptation(Rule rule, std::vector<double> rates, double safety, double longest);

    /// Of a segment that has come, bit/s.
    void Add(double throughput);
    /// Harmonic mean of the latest ones (Yin et al., SIGCOMM 2015, section 7), bit/s.
    std::optional<double> Estimate() const;
    /// The next representation, when the buffer holds `level` seconds.
    std::size_t Choose(double level);

  private:
    std::size_t ByThroughput() const;
    std::size_t ByBuffer(double level) const;

    Rule m_rule;
    std::vector<double> m_rates;
    double m_safety;
    double m_longest;
    std::deque<double> m_throughputs; ///< the latest
    std::size_t m_chosen{0};
};

} // namespace netboxit
