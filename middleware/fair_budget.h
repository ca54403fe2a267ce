// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "rate.h"

namespace netboxit::middleware
{

/// Unweighted Fair Budget, the allocator of C2ML: all members of a link have the same share of its rate, BW_i = BW / n (C. A. Grazia,
/// "Communication Networks for Public Protection and Disaster Relief Systems", dissertation, Univ. of Modena and Reggio Emilia,
/// section 2.2.3.2). Each call takes constant time.
///
/// A share is a whole number of bit/s. The remainder of the division, less than 1 bit/s for each member, stays unassigned: all members are
/// treated equally, and one announcement says the share of all.
class FairBudget
{
  public:
    /// `rate` of the link; below 0 it counts as 0.
    explicit FairBudget(Rate rate);

    void SetRate(Rate rate);

    /// Throws std::overflow_error above 2^32 - 1 members.
    void Join(std::uint32_t members = 1);
    /// Throws std::underflow_error if there are not so many.
    void Leave(std::uint32_t members = 1);

    std::uint32_t Members() const
    {
        return m_members;
    }

    /// Of each member; without members, of one that came alone.
    Rate Share() const;
    /// What all members have together: never above the rate, and less than it by fewer bit/s than there are members.
    Rate Assigned() const;

  private:
    Rate m_rate;
    std::uint32_t m_members{};
};

} // namespace netboxit::middleware
