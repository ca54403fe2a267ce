// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../queueing/discipline.h"

#include <limits>

namespace netboxit::errors
{

/// A channel that is good and bad in turn for exponentially distributed times, whether anything is sent or not; good at first.
/// It has a stream of random numbers for itself, so that its course is the same whatever is sent.
class Fades
{
  public:
    explicit Fades(queueing::Chance chance);

    /// Other mean times from now on, s. It stays in the state that it is in.
    void Set(double good, double bad, std::int64_t now);
    /// It starts now, with a good time.
    void Begin(std::int64_t now);

    /// Times of this and of During() do not fall from call to call.
    bool IsBad(std::int64_t at);

    /// Calls `part(isBad, ns)` for each part of the time from `start` to `end`.
    template <typename Part>
    void During(std::int64_t start, std::int64_t end, const Part& part)
    {
        GoOnTo(start);
        while (m_until < end)
        {
            part(m_isBad, m_until - start);
            start = m_until;
            Turn();
        }
        part(m_isBad, end - start);
        m_reached = end;
    }

  private:
    void GoOnTo(std::int64_t at);
    void Turn();
    std::int64_t Draw();

    queueing::Chance m_chance;
    double m_meanGood{1}; ///< s
    double m_meanBad{1};
    bool m_isBad{false};
    std::int64_t m_until{std::numeric_limits<std::int64_t>::max()}; ///< when it turns; before it begins, never
    std::int64_t m_reached{0};
};

} // namespace netboxit::errors
