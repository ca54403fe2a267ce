// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "dybra.h"

namespace netboxit::middleware
{

/// A member's part of DyBRA (C. A. Grazia, dissertation, section 2.3.2, figure 2.30): decides when the gateway must know of the rate of the
/// member's access.
///
/// - A good member whose access is slower than its share becomes bad, and a bad one that can use the share becomes good: `share <= access`
///   is good, as the text says (the printed test makes equality bad).
/// - While no member is good there is no share, and a bad one compares its access with what it would have as the only good one: S_eff,
///   which is announced then, and its own rate.
/// - With a threshold, a change counts only if it is that large. A good member becomes bad if it cannot use at least 20 % of its share; a
///   bad one reports again if its access is 20 % below or above what it reported. The source names the part downwards only.
class DybraClient
{
  public:
    /// Section 2.3.2: a significant change is 20 %.
    static constexpr unsigned THRESHOLD = 200;

    /// `threshold` in thousandths, from 0 (each change counts) to 1000.
    explicit DybraClient(unsigned threshold = THRESHOLD);

    /// The gateway announced `share` for `good` members, or the access changed; `access` is its rate now. Returns whether the member
    /// reports it (USED_BW).
    bool Assess(Rate share, std::uint32_t good, Rate access);
    /// What the gateway answered (ACK_USED).
    void Set(const DybraState& state);

    /// Of the member by its own judgement; `rate` is what it reported last.
    const DybraState& State() const
    {
        return m_state;
    }

    /// What the member may send while `share` is announced and its access has this rate: a bad member ignores the share.
    Rate Budget(Rate share, Rate access) const;

  private:
    /// Whether `access` is below `reference` by the threshold at least, and below it at all.
    bool IsBelow(Rate access, Rate reference) const;

    unsigned m_threshold;
    DybraState m_state;
};

} // namespace netboxit::middleware
