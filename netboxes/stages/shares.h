// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <optional>

namespace netboxit::stages
{

/// What becomes of the bandwidth that flows with small windows leave.
enum class Reallocation
{
    None,    ///< Eq. 1: nobody gets it
    Literal, ///< Eq. 2 as printed: limited flows are compared with a share that has the bandwidth which they left; the sum diverges
    Base,    ///< limited flows are compared with their share by Eq. 1 only; what they leave may be negative
};

/// The bandwidth of a link in fair shares, one for each TCP flow: M. Casoni et al., "How to avoid TCP congestion without dropping packets:
/// an effective AQM called PINK", Computer Communications 103 (2017), section 3. A flow is *good* if it uses its share, and *bad* if the
/// window of its receiver is smaller. With Reallocation::Base the shares settle at max-min fairness. Each call takes constant time.
class Shares
{
  public:
    /// The state of one flow. New ones are good.
    struct Flow
    {
        bool isGood{true};
        double free{}; ///< bandwidth that it leaves to the others, bytes/s; a negative one is what it takes beyond its share by Eq. 1
    };

    /// What makes a window of a rate.
    struct Path
    {
        double rtt;          ///< s, above 0
        double exploitation; ///< part of the link's bandwidth that is payload of TCP, above 0: `c` of Eq. 1
    };

    /// `rate` of the link in bytes/s.
    Shares(double rate, Reallocation reallocation);

    /// A bad flow's bandwidth is calculated anew with its next window.
    void SetRate(double rate);

    void Join(const Flow& flow);
    void Leave(const Flow& flow);

    /// The receiver of a flow has advertised `current` bytes: changes the flow's state. Returns the window to advertise instead, in bytes
    /// (not rounded) and never larger than `current`; nothing where the advertised one shall stay.
    std::optional<double> Judge(Flow& flow, double current, const Path& path);
    /// The window of a flow as its state is, bytes (not rounded).
    double Window(const Flow& flow, const Path& path) const;

    std::uint32_t Flows() const
    {
        return m_good + m_bad;
    }

    std::uint32_t Good() const
    {
        return m_good;
    }

    std::uint32_t Bad() const
    {
        return m_bad;
    }

    /// Bandwidth that bad flows leave, bytes/s.
    double Free() const
    {
        return m_free;
    }

    /// Bandwidth of one good flow, or of one that came now if there is none, bytes/s with all headers.
    double OfGoodFlow() const;

  private:
    double Base() const;
    std::optional<double> JudgeLiterally(Flow& flow, double current, const Path& path);
    std::optional<double> JudgeByBase(Flow& flow, double current, const Path& path);
    void BecomeBad(Flow& flow, double left);
    void BecomeGood(Flow& flow);

    double m_rate;
    Reallocation m_reallocation;
    std::uint32_t m_good{};
    std::uint32_t m_bad{};
    double m_free{};
};

} // namespace netboxit::stages
