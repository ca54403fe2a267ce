// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "fair_budget.h"

namespace netboxit::middleware
{

/// How DyBRA takes a member back among the good ones.
enum class Equations : std::uint8_t
{
    Printed,   ///< E2 as printed (figure 2.32): the rate of the good members grows by one of their shares, and exceeds the link's
    Corrected, ///< E2 returns what E1 and E3 took, so the rates of all members add up to the link's
};

/// State_i = <bw, s> of a member, as the gateway knows it. New members are good.
struct DybraState
{
    bool isBad{};
    Rate rate{}; ///< of a bad member: what it has instead of the share
};

/// The gateway's part of DyBRA (C. A. Grazia, dissertation, section 2.3.2): C2ML, with the rate of members whose access is slower than
/// their share given to the others. A member is *good* if it can use its share, and *bad* otherwise; a bad one has its access rate, and the
/// good ones share what is left (S_eff). Each call takes constant time, and the memory does not depend on the number of members: the caller
/// keeps each member's state.
///
/// Decided here, where the source leaves it open: a share is a whole number of bit/s, as FairBudget's, and a rate is compared with that
/// number. With Equations::Corrected a bad member becomes good if it can use the share that it would have then, (S_eff + bw) / (good + 1).
class Dybra
{
  public:
    /// `rate` of the link, at least 0.
    Dybra(Rate rate, Equations equations);

    /// S_eff changes as the link's rate does. It is below 0 where the bad members alone have more: call Returns() for them then.
    void SetRate(Rate rate);

    void Join(std::uint32_t members = 1);
    /// CLIENT_BYE of a member with this state.
    void Leave(const DybraState& state);
    /// Of good members.
    void LeaveGood(std::uint32_t members);

    /// USED_BW: the member's access has the rate `access`, from 0 to MOST_RATE. Changes its state by E1, E2 or E3. Returns whether anything
    /// changed.
    bool Report(DybraState& state, Rate access);

    /// Whether a bad member has at least the share that it would have as a good one: the share fell since its report. Nothing in the source
    /// returns such a member before it reports again; one that stays silent would keep more than its share.
    bool Returns(const DybraState& state) const;
    /// Makes it good by E2.
    void Return(DybraState& state);

    /// S_eff / (n - bad); S_eff as it is while there is no good member. What AVAIL_BW says, and each good member has.
    Rate Share() const
    {
        return m_good.Share();
    }

    /// S_eff.
    Rate Effective() const
    {
        return m_effective;
    }

    std::uint32_t Good() const
    {
        return m_good.Members();
    }

    std::uint32_t Bad() const
    {
        return m_bad;
    }

    std::uint32_t Members() const
    {
        return Good() + m_bad;
    }

    /// What all members have together.
    Rate Assigned() const
    {
        return m_good.Assigned() + m_ofBad;
    }

  private:
    Rate ShareOfReturned(const DybraState& state) const;
    void SetEffective(Rate rate);

    Rate m_rate;
    Equations m_equations;
    Rate m_effective;
    FairBudget m_good; ///< the good members share S_eff
    std::uint32_t m_bad{};
    Rate m_ofBad{}; ///< the sum of the bad members' rates
};

} // namespace netboxit::middleware
