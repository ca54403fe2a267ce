// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace netboxit::stages
{

/// What traffic may be: a token bucket's parameters (RFC 2475, section 2.3.1).
struct Profile
{
    double rate;  ///< bytes/s
    double burst; ///< bytes: the depth of the bucket
};

/// A token bucket, full at first, in bytes: in any interval of t seconds it takes no more than rate·t + burst. That is the meter of RFC 2697
/// with burst as committed burst size, and with an excess burst size of 0.
class TokenBucket
{
  public:
    /// Whether a packet is within the profile: then its tokens are gone.
    bool Takes(std::uint32_t bytes, const Profile& profile, std::int64_t now)
    {
        Fill(profile, now);
        if (m_tokens + SLACK < bytes)
        {
            return false;
        }
        m_tokens -= bytes;
        return true;
    }

    /// Adds the tokens up to now: before a profile changes.
    void Fill(const Profile& profile, std::int64_t now)
    {
        m_tokens = std::min(profile.burst, m_tokens + profile.rate * static_cast<double>(now - m_filled) / 1e9);
        m_filled = now;
    }

  private:
    /// Bytes: a source that keeps the profile exactly loses nothing by the rounding of sums.
    static constexpr double SLACK = 1e-3;

    double m_tokens{std::numeric_limits<double>::infinity()};
    std::int64_t m_filled{};
};

} // namespace netboxit::stages
