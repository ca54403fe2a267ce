// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../scheduler.h"

#include <random>
#include <vector>

namespace netboxit::queueing::tempest
{

/// What a channel loses in turns.
struct TwoStates
{
    double good{0};  ///< as a share
    double bad{0};   ///< as a share
    double dwell{0}; ///< how long it stays in one of the states on average, packets' times; 0: it does not change
};

/// The channels of stations: each loses always the same share of packets; or now the one and now the other share, for times that are
/// geometrically distributed, and each state has half of the time (the two-state model of Gilbert, 1960).
class Channels
{
  public:
    /// `losses`: by station, where channels do not change.
    Channels(std::vector<double> losses, const TwoStates& states, unsigned seed);

    double Loss(LineId station) const
    {
        return m_losses[station];
    }

    LineId Stations() const
    {
        return static_cast<LineId>(m_losses.size());
    }

    bool Change() const
    {
        return m_states.dwell > 0;
    }

    /// A packet's time has passed.
    void Step();

  private:
    std::vector<double> m_losses; ///< now, by station
    TwoStates m_states;
    std::mt19937_64 m_random;
};

} // namespace netboxit::queueing::tempest
