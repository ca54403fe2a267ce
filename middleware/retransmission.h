// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "rate.h"

namespace netboxit::middleware
{

/// When a request without an answer is sent again: by the round-trip times of earlier ones (RFC 6298), doubled with each try. 1 s before
/// the first sample (RFC 8085, section 3.1.1). The least is 200 ms, as Linux has it for TCP, and not RFC 6298's 1 s: leases of few members
/// last 16 s, and 30 % loss in both directions must not end one.
class Retransmission
{
  public:
    void Sample(Time roundTrip);

    /// After the try number `tries`, from 1. At most `longest`, after the first one twice that, also where a round trip takes longer: there
    /// are too few round trips of a satellite, whose time varies, in a lease of 16 s.
    Time Timeout(unsigned tries, Time longest) const;

    /// Smoothed; 0 before the first sample.
    Time RoundTrip() const
    {
        return m_smoothed;
    }

  private:
    Time First() const;

    Time m_smoothed{};
    Time m_variation{};
};

} // namespace netboxit::middleware
