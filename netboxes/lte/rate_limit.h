// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>

namespace netboxit
{

/// A bearer's maximum bit rate in one direction (TS 23.203, 6.1.7.1), upheld by a token bucket: what exceeds it is dropped.
class RateLimit
{
  public:
    /// No limit.
    RateLimit() = default;
    explicit RateLimit(double rate) : m_rate(rate / 8.0), m_depth(std::max(m_rate * LONGEST_BURST, SMALLEST_DEPTH)), m_tokens(m_depth) {}

    /// Whether so many bytes may pass at a time (ns, rising); if so, they count.
    bool Passes(std::uint32_t bytes, std::int64_t now)
    {
        if (m_rate <= 0.0)
        {
            return true;
        }
        m_tokens = std::min(m_tokens + m_rate * static_cast<double>(now - m_filled) / 1e9, m_depth);
        m_filled = now;
        if (m_tokens < bytes)
        {
            return false;
        }
        m_tokens -= bytes;
        return true;
    }

  private:
    static constexpr double LONGEST_BURST = 0.1;     ///< s, of what the rate gives
    static constexpr double SMALLEST_DEPTH = 3000.0; ///< bytes, two packets of 1500

    double m_rate{};  ///< byte/s; 0: no limit
    double m_depth{}; ///< bytes
    double m_tokens{};
    std::int64_t m_filled{}; ///< ns
};

} // namespace netboxit
